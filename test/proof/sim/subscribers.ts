// Subscribers: they come, go and change their minds, and write down what they were told.
import { rotateSecret, unsubscribe } from '../../../src/engine/subscribe/subscriptions.ts';
import { obeyMs } from '../invariants/attempts.ts';
import type { Subscribed } from '../invariants/history.ts';
import { change, subscribeIn } from './engine-calls.ts';
import { epochMs, type Simulation } from './node.ts';
import { triesMax, type ExternalDeps } from './outside-clients.ts';
import { eventNames, kindMax, type Publishers } from './publishers.ts';
import type { Subscriber } from './records.ts';

type Chosen = Pick<
  Subscribed,
  'hears' | 'kinds' | 'isOrdered' | 'concurrency' | 'ratePerSecond' | 'expiresMs'
>;

export class Subscribers {
  readonly all: Subscriber[] = [];
  unknown = 0;
  readonly #sim: Simulation;
  readonly #outside: ExternalDeps;
  readonly #publishers: Publishers;

  constructor(sim: Simulation, outside: ExternalDeps, publishers: Publishers) {
    this.#sim = sim;
    this.#outside = outside;
    this.#publishers = publishers;
  }

  async subscribe(): Promise<void> {
    const { clock, chance, plan, network } = this.#sim;
    const node = await this.#outside.someNode();
    const askedMs = clock.nowMs;
    const { url } = chance.pick(network.receivers);
    const chosen = this.#choose();
    const { expiresMs } = chosen;
    try {
      const id = await node.ask(async (engine) => subscribeIn(engine, url, wishOf(chosen)));
      clock.note(`${id} subscribes at ${url}: ${JSON.stringify(chosen)}`);
      this.all.push({
        id,
        askedMs,
        answeredMs: clock.nowMs,
        ...chosen,
        endAskedMs: expiresMs,
        endAnsweredMs: undefined,
        // Everybody knows that time in advance: nobody has a second to hear of it.
        silences:
          expiresMs === undefined
            ? []
            : [{ of: 'expiry', fromMs: expiresMs - (plan.isShared ? obeyMs : 0), toMs: Infinity }],
        wasHeld: false,
        wasMoved: false,
        secrets: [],
        url,
        isUnsure: false,
        isRotated: false,
        isPaused: false,
      });
    } catch (error) {
      this.#outside.failed(error);
      this.unknown += 1;
    }
  }

  #choose(): Chosen {
    const { clock, chance, plan } = this.#sim;
    const maybe = <T>(share: number, draw: () => T): T | undefined =>
      chance.isLucky(share) ? draw() : undefined;
    return {
      hears: maybe(0.3, () => chance.pick(eventNames)) ?? '*',
      kinds: maybe(plan.filteredShare, () =>
        Array.from({ length: chance.whole(1, 6) }, () => chance.whole(0, kindMax)),
      ),
      isOrdered: chance.isLucky(plan.orderedShare),
      concurrency: maybe(plan.cappedShare, () => chance.whole(1, 3)),
      ratePerSecond: maybe(plan.limitedShare, () => chance.pick([0.4, 0.7, 1, 3, 7.5])),
      expiresMs: maybe(plan.passingShare, () =>
        Math.ceil(clock.nowMs + chance.between(10_000, 60_000)),
      ),
    };
  }

  async unsubscribe(): Promise<void> {
    const { clock, chance, network, counters } = this.#sim;
    await this.#stirUp();
    const one = this.#anyone();
    if (one === undefined) return;
    one.endAskedMs = Math.min(one.endAskedMs ?? Infinity, clock.nowMs);
    if (network.inFlight(one.id) > 0) counters.unsubscribesInFlight += 1;
    clock.note(`${one.id} unsubscribes`);
    const isDone = await this.#outside.insist(chance.whole(1, triesMax), async ({ context }) => {
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
    if (network.inFlight(one.id) > 0) counters.editsInFlight += 1;
    const what = chance.pick(['move', 'pause', 'rotate'] as const);
    if (what === 'move') await this.#move(one);
    else if (what === 'pause') await this.#pause(one);
    else if (!one.isRotated) {
      one.isRotated = true;
      await this.#outside.insist(1, async ({ context }) => {
        await rotateSecret(context, context.defaultApp, { id: one.id, overlapMs: 86_400_000 });
      });
    }
  }

  /** A pause that nobody waited for any more may have come after the word to go on. */
  async resumeAll(): Promise<void> {
    for (const one of this.all) {
      if (!one.wasHeld) continue;
      await this.#outside.insist(triesMax, async (engine) =>
        change(engine, one.id, { state: 'active', callbacks: [] }),
      );
    }
  }

  /** Sometimes there is something under way just then. */
  async #stirUp(): Promise<void> {
    const { chance } = this.#sim;
    if (chance.isLucky(0.4)) return;
    for (let count = chance.whole(1, 3); count > 0; count -= 1) {
      this.#outside.begin(async () => this.#publishers.publish());
    }
    await this.#outside.wait(chance.between(1, 30));
  }

  async #move(one: Subscriber): Promise<void> {
    const { chance, network, clock } = this.#sim;
    const { url } = chance.pick(network.receivers);
    if (url === one.url) return;
    one.isUnsure = true;
    one.wasMoved = true;
    for (const silence of one.silences) {
      if (silence.url === url) silence.toMs = Math.min(silence.toMs, clock.nowMs);
    }
    const isDone = await this.#outside.insist(1, async (engine) => {
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
    const hasPaused = await this.#outside.insist(1, async (engine) =>
      change(engine, one.id, { state: 'paused', callbacks: [] }),
    );
    const silence = { of: 'pause', fromMs: clock.nowMs, toMs: Infinity };
    if (hasPaused) {
      one.silences.push(silence);
      clock.note(`${one.id} is paused`);
    }
    await this.#outside.wait(chance.between(500, 10_000));
    silence.toMs = clock.nowMs;
    await this.#outside.insist(triesMax, async (engine) =>
      change(engine, one.id, { state: 'active', callbacks: [] }),
    );
    clock.note(`${one.id} goes on`);
    one.isPaused = false;
  }

  #anyone(): Subscriber | undefined {
    const { nowMs } = this.#sim.clock;
    const there = this.all.filter(({ endAskedMs }) => (endAskedMs ?? Infinity) > nowMs);
    return there.length === 0 ? undefined : this.#sim.chance.pick(there);
  }
}

/** As `x-ringback` says it. */
function wishOf(chosen: Chosen): Record<string, unknown> {
  const { hears, kinds, isOrdered, concurrency, ratePerSecond, expiresMs } = chosen;
  return {
    ...(isOrdered ? { ordered: true } : {}),
    ...(hears === '*' ? {} : { events: [hears] }),
    ...(kinds === undefined ? {} : { filter: { '/z': kinds } }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(ratePerSecond === undefined ? {} : { rateLimit: ratePerSecond }),
    ...(expiresMs === undefined ? {} : { expiresAt: new Date(epochMs + expiresMs).toISOString() }),
  };
}
