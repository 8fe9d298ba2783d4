// Those who use the service: publishers, who repeat what was not answered, and subscribers, who come, go
// and change their minds. They write down what they were told, and know nothing else.
import { Problem } from '../../../src/core/problem.ts';
import { retryDelivery } from '../../../src/engine/deliveries.ts';
import { rotateSecret, unsubscribe } from '../../../src/engine/subscriptions.ts';
import type { PublishCall } from '../invariants/history.ts';
import { obeyMs } from '../invariants/attempts.ts';
import type { Engine } from './engine.ts';
import { change, publishIn, subscribeIn } from './engine-calls.ts';
import { epochMs, type SimulatedNode, type Simulation } from './node.ts';
import type { Publishing, Subscriber, Writable } from './records.ts';

const names = ['order.created', 'order.paid'];
const triesMax = 60;

export class Clients {
  readonly publishes: Publishing[] = [];
  readonly subscribers: Subscriber[] = [];
  readonly redriven = new Set<string>();
  unknownSubscribes = 0;
  /** Calls that somebody waits for. */
  open = 0;
  readonly #sim: Simulation;

  constructor(sim: Simulation) {
    this.#sim = sim;
  }

  /** Something that goes on beside all else. */
  begin(act: () => Promise<void>): void {
    this.open += 1;
    void this.#attend(act);
  }

  async #attend(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      this.#sim.flaws.push(`a client failed: ${text}`);
    }
    this.open -= 1;
  }

  async publish(): Promise<void> {
    const { chance, plan, counters } = this.#sim;
    const marker = `m${this.publishes.length}`;
    const key = chance.isLucky(plan.keyedShare) ? `key-${marker}` : undefined;
    // Bytes that nobody would write twice the same way.
    const body = `{ "message":"${marker}", "n":1E2,"u":"\\u00e9",  "z" : ${chance.whole(0, 9)}.0 }`;
    const record: Publishing = { marker, name: chance.pick(names), body, key, calls: [] };
    this.publishes.push(record);
    counters.published += 1;
    let isDone = false;
    for (let tries = 0; tries < (key === undefined ? 1 : triesMax) && !isDone; tries += 1) {
      isDone = await this.#publishOnce(record);
      if (!isDone) await this.#wait(chance.between(100, 3_000));
    }
    if (!isDone) return;
    counters.acknowledged += 1;
    if (key === undefined || !chance.isLucky(0.2)) return;
    await this.#wait(chance.between(1, 2_000));
    if (chance.isLucky(0.5)) {
      if (await this.#publishOnce(record)) counters.repeatedKey += 1;
    } else await this.#publishOther(record);
  }

  /** Whether it was answered. */
  async #publishOnce(record: Publishing): Promise<boolean> {
    const { clock, counters } = this.#sim;
    const node = await this.#someNode();
    const call: Writable<PublishCall> = {
      askedMs: clock.nowMs,
      answeredMs: undefined,
      id: undefined,
      error: undefined,
    };
    record.calls.push(call);
    try {
      call.id = await node.ask(async (engine) => publishIn(engine, record, record.body));
      call.answeredMs = clock.nowMs;
      clock.note(`${record.marker} is ${call.id}, says ${node.name}`);
      return true;
    } catch (error) {
      call.error = error instanceof Error ? error.message : String(error);
      counters.unknownToPublisher += 1;
      return false;
    }
  }

  async #publishOther(record: Publishing): Promise<void> {
    const { counters, flaws } = this.#sim;
    const node = await this.#someNode();
    try {
      const id = await node.ask(async (engine) => publishIn(engine, record, '{"message":"other"}'));
      flaws.push(`I13: another body was accepted under ${record.key}, as ${id}`);
    } catch (error) {
      if (error instanceof Problem && error.code === 'idempotency_mismatch') {
        counters.mismatchedKey += 1;
      }
    }
  }

  async subscribe(): Promise<void> {
    const { clock, chance, plan, network } = this.#sim;
    const node = await this.#someNode();
    const askedMs = clock.nowMs;
    const { url } = chance.pick(network.receivers);
    const hears = chance.isLucky(0.3) ? chance.pick(names) : '*';
    const isOrdered = chance.isLucky(plan.orderedShare);
    const isLimited = chance.isLucky(0.2);
    const isPassing = chance.isLucky(plan.passingShare);
    const expiresMs = Math.ceil(clock.nowMs + chance.between(10_000, 60_000));
    const chosen = {
      ...(isOrdered ? { ordered: true } : {}),
      ...(hears === '*' ? {} : { events: [hears] }),
      ...(isLimited ? { concurrency: chance.whole(1, 3) } : {}),
      ...(isPassing ? { expiresAt: new Date(epochMs + expiresMs).toISOString() } : {}),
    };
    try {
      const id = await node.ask(async (engine) => subscribeIn(engine, url, chosen));
      clock.note(`${id} subscribes ${hears} at ${url}${isOrdered ? ', ordered' : ''}`);
      this.subscribers.push({
        id,
        askedMs,
        answeredMs: clock.nowMs,
        hears,
        isOrdered,
        isLimited,
        endAskedMs: isPassing ? expiresMs : undefined,
        endAnsweredMs: undefined,
        // Everybody knows that time in advance: nobody has a second to hear of it.
        silences: isPassing
          ? [{ of: 'expiry', fromMs: expiresMs - (plan.isShared ? obeyMs : 0), toMs: Infinity }]
          : [],
        wasHeld: false,
        secrets: [],
        url,
        isUnsure: false,
        isRotated: false,
        isPaused: false,
      });
    } catch {
      this.unknownSubscribes += 1;
    }
  }

  async unsubscribe(): Promise<void> {
    const { clock, chance, network, counters } = this.#sim;
    await this.#stirUp();
    const one = this.#anyone();
    if (one === undefined) return;
    one.endAskedMs = Math.min(one.endAskedMs ?? Infinity, clock.nowMs);
    if (network.underWay(one.id) > 0) counters.unsubscribesUnderWay += 1;
    clock.note(`${one.id} unsubscribes`);
    const isDone = await this.#insist(chance.whole(1, triesMax), async ({ context }) => {
      await unsubscribe(context, context.defaultApp, one.id);
    });
    if (!isDone) return;
    one.endAnsweredMs = clock.nowMs;
    one.silences.push({ of: 'unsubscribe', fromMs: clock.nowMs, toMs: Infinity });
    clock.note(`${one.id} has unsubscribed`);
  }

  async edit(): Promise<void> {
    const { chance, network, counters } = this.#sim;
    await this.#stirUp();
    const one = this.#anyone();
    if (one === undefined || one.isUnsure || one.isPaused) return;
    if (network.underWay(one.id) > 0) counters.editsUnderWay += 1;
    const what = chance.pick(['move', 'pause', 'rotate'] as const);
    if (what === 'move') await this.#move(one);
    else if (what === 'pause') await this.#pause(one);
    else if (!one.isRotated) {
      one.isRotated = true;
      await this.#insist(1, async ({ context }) => {
        await rotateSecret(context, context.defaultApp, { id: one.id, overlapMs: 86_400_000 });
      });
    }
  }

  /** A pause that nobody waited for any more may have come after the word to go on. */
  async resumeAll(): Promise<void> {
    for (const one of this.subscribers) {
      if (!one.wasHeld) continue;
      await this.#insist(triesMax, async (engine) =>
        change(engine, one.id, { state: 'active', callbacks: [] }),
      );
    }
  }

  async redrive(): Promise<void> {
    const { shared, chance, counters, clock } = this.#sim;
    const rows = shared.db
      .prepare(
        `select done.event, done.n from delivery_done done join lane on lane.no = done.lane
        where lane.ordered = 0 order by done.event, done.n`,
      )
      .all();
    if (rows.length === 0) return;
    const row = chance.pick(rows);
    const id = `dlv_${String(row['event'])}_${String(row['n'])}`;
    this.redriven.add(id);
    clock.note(`${id} is sent again by hand`);
    const isDone = await this.#insist(1, async ({ context }) => {
      await retryDelivery(context, context.defaultApp, id);
    });
    if (isDone) counters.redriven += 1;
  }

  /** Sometimes there is something under way just then. */
  async #stirUp(): Promise<void> {
    const { chance } = this.#sim;
    if (chance.isLucky(0.4)) return;
    for (let count = chance.whole(1, 3); count > 0; count -= 1) {
      this.begin(async () => this.publish());
    }
    await this.#wait(chance.between(1, 30));
  }

  async #move(one: Subscriber): Promise<void> {
    const { chance, network, clock } = this.#sim;
    const { url } = chance.pick(network.receivers);
    if (url === one.url) return;
    one.isUnsure = true;
    for (const silence of one.silences) {
      if (silence.url === url) silence.toMs = Math.min(silence.toMs, clock.nowMs);
    }
    const isDone = await this.#insist(1, async (engine) => {
      const callbacks = [{ position: 0, url, events: undefined }];
      await change(engine, one.id, { state: undefined, callbacks });
    });
    if (!isDone) return;
    clock.note(`${one.id} has moved to ${url}`);
    one.silences.push({ of: 'move', fromMs: clock.nowMs, toMs: Infinity, url: one.url });
    one.url = url;
    one.isUnsure = false;
  }

  async #pause(one: Subscriber): Promise<void> {
    const { chance, clock } = this.#sim;
    one.isPaused = true;
    one.wasHeld = true;
    const hasPaused = await this.#insist(1, async (engine) =>
      change(engine, one.id, { state: 'paused', callbacks: [] }),
    );
    const silence = { of: 'pause', fromMs: clock.nowMs, toMs: Infinity };
    if (hasPaused) {
      one.silences.push(silence);
      clock.note(`${one.id} is paused`);
    }
    await this.#wait(chance.between(500, 10_000));
    silence.toMs = clock.nowMs;
    await this.#insist(triesMax, async (engine) =>
      change(engine, one.id, { state: 'active', callbacks: [] }),
    );
    clock.note(`${one.id} goes on`);
    one.isPaused = false;
  }

  /** Whether it was done; a refusal for a reason is as good as done by somebody else. */
  async #insist(most: number, act: (engine: Engine) => Promise<void>): Promise<boolean> {
    const { chance } = this.#sim;
    for (let tries = 0; tries < most; tries += 1) {
      const node = await this.#someNode();
      try {
        await node.ask(act);
        return true;
      } catch (error) {
        if (error instanceof Problem && error.code !== 'store_unavailable') return false;
      }
      await this.#wait(chance.between(100, 2_000));
    }
    return false;
  }

  #anyone(): Subscriber | undefined {
    const { nowMs } = this.#sim.clock;
    const there = this.subscribers.filter(({ endAskedMs }) => (endAskedMs ?? Infinity) > nowMs);
    return there.length === 0 ? undefined : this.#sim.chance.pick(there);
  }

  async #someNode(): Promise<SimulatedNode> {
    const { nodes, chance } = this.#sim;
    for (;;) {
      const up = nodes.filter(({ state }) => state === 'up');
      if (up.length > 0) return chance.pick(up);
      await this.#wait(250);
    }
  }

  async #wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sim.clock.after(ms, resolve);
    return promise;
  }
}
