// A simulated node: it starts, dies without a word, stands still, is stopped, and has a wall clock that
// can be set. What it was told to do in one life never happens in the next.
import { elapsedClock, type World } from '../../../src/core/base/world.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { sendEachTurn, sendWhenQuiet } from '../../../src/core/load/batch-pacer.ts';
import { storeOver } from '../../../src/store/open/open.ts';
import type { Worker } from '../../../src/store/port/delivery-verbs.ts';
import { StoreUnavailable, VerbFailed, type Store } from '../../../src/store/port/store.ts';
import type { Death } from '../invariants/history.ts';
import type { Chance } from './chance.ts';
import type { Clock, Mortal } from './clock.ts';
import type { Counters } from './counters.ts';
import { startEngine, type Engine } from './engine.ts';
import type { Network } from './network.ts';
import type { Plan } from './plan.ts';
import { simulatedStore, type SharedStore } from './store.ts';

export interface Simulation {
  plan: Plan;
  clock: Clock;
  chance: Chance;
  counters: Counters;
  shared: SharedStore;
  network: Network;
  nodes: SimulatedNode[];
  deaths: Death[];
  /** When the clock was set that the database goes by, too. */
  clockSteps: number[];
  /** What a node could not explain: a bug. */
  flaws: string[];
}

/** When a simulation begins, by the clocks of all. */
export const epochMs = 1_800_000_000_000;

/** Two leases. */
const rescuedMs = 2 * limits.nodeSilentMs;

/** Nobody answered: the node died, or stands still. */
export class NoAnswer extends Error {}

export class SimulatedNode implements Mortal {
  readonly name: string;
  life = 0;
  frozenUntilMs = 0;
  /** What its wall clock is ahead. */
  aheadMs = 0;
  /** Since when it is there without a break. */
  steadySinceMs = Infinity;
  state: 'down' | 'starting' | 'up' | 'stopping' = 'down';
  readonly #sim: Simulation;
  #bootMs = 0;
  /** What its monotonic clock has missed in this life, and since when it misses the present. */
  #suspendedMs = 0;
  #suspendedFromMs = 0;
  #suspendedUntilMs = 0;
  #engine: Engine | undefined;
  #worker: Worker | undefined;
  readonly #calls = new Set<(error: Error) => void>();

  constructor(sim: Simulation, name: string) {
    this.#sim = sim;
    this.name = name;
  }

  get isFrozen(): boolean {
    return this.frozenUntilMs > this.#sim.clock.nowMs;
  }

  no(): number {
    return this.#engine?.self.no() ?? 0;
  }

  wallMs(): number {
    return epochMs + Math.floor(this.#sim.clock.nowMs) + this.aheadMs;
  }

  inFlight(): number {
    return this.#engine?.inFlight() ?? 0;
  }

  start(): void {
    if (this.state !== 'down') return;
    const { clock } = this.#sim;
    this.state = 'starting';
    this.#bootMs = clock.nowMs;
    this.#suspendedMs = 0;
    this.#suspendedFromMs = clock.nowMs;
    clock.note(`${this.name} starts`);
    clock.afterIn(this, 0, () => void this.#open());
  }

  /** Without a word. */
  crash(): void {
    if (this.state === 'down') return;
    const { clock, counters, deaths, shared } = this.#sim;
    const incarnation = this.no();
    const held = shared.db
      .prepare('select event, n, lease from delivery_live where lease >> 32 = ?')
      .all(incarnation)
      .map((row) => ({
        event: String(row['event']),
        n: Number(row['n']),
        lease: Number(row['lease']),
      }));
    clock.note(`${this.name} dies with ${held.length}`);
    const begun = shared.db
      .prepare(
        `select (select count(*) from fanout where made > 0) as fanouts,
          (select count(*) from replay where state = 'running' and matched > 0) as replays`,
      )
      .get();
    counters.fanOutsInterrupted += Number(begun?.['fanouts']);
    counters.replaysInterrupted += Number(begun?.['replays']);
    counters.crashes += 1;
    if (held.length > 0) counters.crashesInFlight += 1;
    if (incarnation > 0) {
      deaths.push({ incarnation, atMs: clock.nowMs, held });
      clock.after(rescuedMs, () => this.#judgeRescue(held, clock.nowMs - rescuedMs));
    }
    this.#end();
  }

  freeze(ms: number): void {
    const { clock, counters } = this.#sim;
    clock.note(`${this.name} stands still for ${Math.round(ms)} ms`);
    counters.pauses += 1;
    if (ms > 35_000 && this.state === 'up') counters.zombies += 1;
    this.frozenUntilMs = clock.nowMs + ms;
    this.steadySinceMs = this.frozenUntilMs;
  }

  /** As a freeze, and the monotonic clock stands still as well. */
  suspend(ms: number): void {
    const { clock, counters } = this.#sim;
    clock.note(`the machine of ${this.name} is suspended`);
    counters.suspensions += 1;
    this.#suspendedMs = this.#missedMs();
    this.#suspendedFromMs = clock.nowMs;
    this.freeze(ms);
    this.#suspendedUntilMs = this.frozenUntilMs;
  }

  #missedMs(): number {
    const untilMs = Math.min(this.#sim.clock.nowMs, this.#suspendedUntilMs);
    return this.#suspendedMs + Math.max(untilMs - this.#suspendedFromMs, 0);
  }

  /** With a word, as at a SIGTERM. */
  stop(onStopped: () => void): void {
    if (this.state !== 'up') return;
    const { clock, counters } = this.#sim;
    this.state = 'stopping';
    const count = this.inFlight();
    if (count > 0) counters.drains += 1;
    clock.note(`${this.name} stops with ${count}`);
    const engine = this.#engine;
    clock.afterIn(this, 0, () => {
      void engine?.stop().then(() => {
        clock.note(`${this.name} has stopped`);
        this.#end();
        onStopped();
      });
    });
  }

  hear(): void {
    this.#worker?.wake();
  }

  /** A request of somebody outside; rejects with NoAnswer when the node dies or takes too long. */
  async ask<T>(act: (engine: Engine) => Promise<T>, patienceMs = 10_000): Promise<T> {
    const { clock, chance } = this.#sim;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const lose = (error: Error): void => {
      this.#calls.delete(lose);
      clock.after(0.1, () => reject(error));
    };
    if (this.#engine === undefined || this.state !== 'up') {
      lose(new NoAnswer('refused'));
      return promise;
    }
    const engine = this.#engine;
    this.#calls.add(lose);
    const late = clock.after(patienceMs, () => lose(new NoAnswer('late')));
    const answer = (give: () => void): void => {
      if (!this.#calls.delete(lose)) return;
      clock.cancel(late);
      clock.after(chance.between(0.1, 2), give);
    };
    clock.afterIn(this, chance.between(0.1, 2), () => {
      act(engine).then(
        (value) => answer(() => resolve(value)),
        (error: unknown) => answer(() => reject(error)),
      );
    });
    return promise;
  }

  /** I18: within two leases nothing of it is left, if anybody could have seen to that. */
  #judgeRescue(held: Death['held'], diedMs: number): void {
    const { nodes, shared, clock, flaws, counters } = this.#sim;
    const isSeenTo = nodes.some(
      (one) => one.state === 'up' && !one.isFrozen && one.steadySinceMs <= diedMs,
    );
    if (!isSeenTo || shared.lastDownMs >= diedMs) return;
    counters.rescuesJudged += 1;
    const same = shared.db.prepare(
      'select 1 from delivery_live where event = ? and n = ? and lease = ?',
    );
    const left = held.filter(({ event, n, lease }) => same.get(event, n, lease) !== undefined);
    if (left.length === 0) return;
    flaws.push(`I18: ${left.length} of ${this.name} are not free at ${clock.nowMs}`);
  }

  #end(): void {
    this.life += 1;
    this.state = 'down';
    this.frozenUntilMs = 0;
    this.#engine = undefined;
    this.#worker = undefined;
    for (const lose of this.#calls) lose(new NoAnswer('reset'));
  }

  async #open(): Promise<void> {
    const { plan, network, clock, chance } = this.#sim;
    const { life } = this;
    try {
      const engine = await startEngine({
        name: this.name,
        world: this.#world(),
        store: this.#store(),
        sender: network.senderOf(this),
        waitsMs: plan.waitsMs,
        timeoutMs: plan.timeoutMs,
        onError: (error, what) => this.#explain(error, what),
      });
      this.#engine = engine;
      this.state = 'up';
      this.steadySinceMs = clock.nowMs;
      clock.note(`${this.name} is node ${engine.self.no()}`);
    } catch (error) {
      this.#explain(error, 'start');
      if (this.life !== life) return;
      this.#end();
      clock.after(chance.between(500, 3_000), () => this.start());
    }
  }

  /** A store that fails is no surprise here; anything else is a bug. */
  #explain(error: unknown, what: string): void {
    const { clock, flaws } = this.#sim;
    if (error instanceof StoreUnavailable) return;
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const cause = error instanceof VerbFailed ? ` ${String(error.cause)}` : '';
    clock.note(`${this.name} ${what}: ${text}${cause}`);
    flaws.push(`${this.name} ${what}: ${text}${cause}`);
  }

  #world(): World {
    const { clock, chance } = this.#sim;
    const bootMs = this.#bootMs;
    const clocks = {
      nowMs: () => this.wallMs(),
      monotonicMs: () => clock.nowMs - bootMs - this.#missedMs(),
    };
    return {
      ...clocks,
      elapsedMs: elapsedClock(clocks),
      randomBytes: (count) => chance.bytes(count),
      sleep: async (ms, signal) => this.#sleep(ms, signal),
    };
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#sim;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return promise;
    }
    const step = clock.afterIn(this, Math.max(ms, 1), () => {
      signal?.removeEventListener('abort', giveUp);
      resolve();
    });
    const giveUp = (): void => {
      clock.cancel(step);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  #store(): Store {
    const { plan, clock } = this.#sim;
    const databaseMs = (): number => epochMs + Math.floor(clock.nowMs);
    const tell = (): void => this.#tellOthers();
    const transport = simulatedStore({ ...this.#sim, node: this, databaseMs, tell });
    const own = this.#world();
    // As src/store/open/open.ts has it for nodes that share a database.
    const world = plan.isShared ? { ...own, nowMs: databaseMs } : own;
    const atEnd = (body: () => void): void => void clock.afterIn(this, 0, body);
    const apart = { kinds: 'apart', pacer: sendWhenQuiet(atEnd) } as const;
    const store = storeOver(
      transport,
      world,
      plan.isShared ? apart : { pacer: sendEachTurn(atEnd) },
    );
    return {
      ...store,
      pollMs: plan.pollMs,
      isShared: plan.isShared,
      attach: (worker) => {
        store.attach(worker);
        this.#worker = worker;
      },
    };
  }

  #tellOthers(): void {
    const { nodes, clock, chance, plan } = this.#sim;
    if (!plan.isShared) return;
    for (const other of nodes) {
      if (other === this || other.state !== 'up' || !chance.isLucky(plan.toldShare)) continue;
      clock.afterIn(other, chance.between(0.2, 3), () => other.hear());
    }
  }
}
