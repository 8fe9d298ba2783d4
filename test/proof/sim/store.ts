// The connection of a simulated node to the database that all nodes share. It runs the real SQL, and each call may be
// delayed, refused before the write, or lose its response after it. If several nodes share the database, it behaves like
// the connection to PostgreSQL: it uses the database's time, and releases deliveries that were leased without a response.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  Batch,
  BatchReply,
  ReadCall,
  ReadReply,
  SettleReply,
  StoreFailure,
  Transport,
  WorkReply,
} from '../../../src/store/port/transport-protocol.ts';
import type { Settlement, Work } from '../../../src/store/port/delivery-verbs.ts';
import type { Sqlite } from '../../../src/store/sqlite/batch/adapter.ts';
import type { Chance } from './chance.ts';
import type { Clock, Mortal } from './clock.ts';
import type { Counters } from './counters.ts';
import type { Plan } from './plan.ts';
import { leasesOf, takenUp } from './claimed.ts';

export interface SharedStore {
  sqlite: Sqlite;
  db: DatabaseSync;
  /** Unreachable until then. */
  downUntilMs: number;
  isHealed: boolean;
  /** The time that the current transaction uses. */
  writtenMs: number;
  /** Incarnations that left the cluster in an orderly way. */
  farewells: Set<number>;
  /** The end of the last outage. */
  lastDownMs: number;
}

export interface StoreDeps {
  plan: Plan;
  clock: Clock;
  chance: Chance;
  counters: Counters;
  shared: SharedStore;
  node: Mortal;
  /** The database's clock. */
  databaseMs: () => number;
  /** Notifies the other nodes of new work. */
  tell: () => void;
  /** Violations. */
  flaws: string[];
}

type Fate = 'answered' | 'before' | 'after' | 'late';

export function simulatedStore(deps: StoreDeps): Transport & { close(): Promise<void> } {
  return new SimTransport(deps);
}

class SimTransport implements Transport {
  readonly #deps: StoreDeps;
  /** Leases of transactions with an unknown outcome. */
  #inDoubt: number[] = [];
  #lease: StatementSync | undefined;
  /** When the last write of this node reaches the database. */
  #reachedMs = 0;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async send(batch: Batch): Promise<BatchReply> {
    const { shared } = this.#deps;
    const { settlements } = batch;
    const verbs = batch.edits.map(({ verb }) => verb).filter((verb) => !routine.has(verb));
    return this.#call<BatchReply>({
      says: toSay([...settlements.map(nameOf), ...verbs]),
      leases: leasesOf([batch.offer, batch.workOffers?.claim, batch.workOffers?.fanOut]),
      run: () => {
        const nowMs = this.#writtenMs(batch.nowMs);
        const judge = this.#judging(settlements);
        const written = shared.sqlite.run({ ...batch, nowMs });
        if (written.kind === 'written') {
          judge(written.settled);
          this.#noteTaken(takenUp(written.worked));
        }
        this.#watch(batch, written);
        return written;
      },
    });
  }

  async work(work: Work): Promise<WorkReply> {
    const { shared } = this.#deps;
    const { settlements, claim, fanOut } = work;
    return this.#call<WorkReply>({
      says: toSay(settlements.map(nameOf)),
      leases: leasesOf([claim, fanOut]),
      run: () => {
        const nowMs = this.#writtenMs(work.nowMs);
        this.#freeInDoubt(nowMs);
        const judge = this.#judging(settlements);
        const done = shared.sqlite.work({ ...work, nowMs });
        if (done.kind !== 'worked') return done;
        this.#noteTaken(takenUp(done));
        judge(done.settled);
        return done;
      },
    });
  }

  async read(call: ReadCall): Promise<ReadReply> {
    const { shared } = this.#deps;
    const run = (): ReadReply => shared.sqlite.read(call);
    return this.#call<ReadReply>({ says: undefined, leases: [], run, isRead: true });
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }

  #noteTaken(deliveries: readonly { event: string; n: number }[]): void {
    const { clock, node } = this.#deps;
    if (deliveries.length === 0) return;
    clock.note(`${node.name} takes ${deliveries.map(shortOf).join(', ')}`);
  }

  #isHeld({ event, n, lease }: Settlement): boolean {
    const { db } = this.#deps.shared;
    this.#lease ??= db.prepare(
      'select 1 from delivery_live where event = ? and n = ? and lease = ?',
    );
    return this.#lease.get(event, n, lease) !== undefined;
  }

  /** An outcome must be accepted if and only if its lease still holds. Called before they are settled. */
  #judging(settlements: readonly Settlement[]): (settled: readonly SettleReply[]) => void {
    const { flaws, node, counters } = this.#deps;
    const held = settlements.map((one) => this.#isHeld(one));
    return (settled) => {
      for (const [at, one] of settled.entries()) {
        if (one.kind !== 'done') continue;
        const isStale = one.output.kind === 'stale';
        if (isStale) counters.staleRefused += 1;
        if (isStale !== held[at]) continue;
        const what = isStale ? 'was refused under its lease' : 'was settled under a lost lease';
        flaws.push(`I5: ${settlements[at]?.event}_${settlements[at]?.n} ${what} by ${node.name}`);
      }
    };
  }

  /** A single node's own clock is the database's clock. */
  #writtenMs(nowMs: number): number {
    const { shared, plan, databaseMs } = this.#deps;
    shared.writtenMs = plan.isShared ? databaseMs() : nowMs;
    return shared.writtenMs;
  }

  async #call<R extends BatchReply | WorkReply | ReadReply>(asked: {
    /** A line for the trace; undefined if the call is not worth one. */
    says: string | undefined;
    leases: readonly number[];
    run: () => R;
    isRead?: boolean;
  }): Promise<R | StoreFailure> {
    const { clock, chance, shared, node, counters } = this.#deps;
    const { promise, resolve } = Promise.withResolvers<R | StoreFailure>();
    const { life } = node;
    const fate = this.#fate(asked.isRead === true);
    const wayMs = (fate === 'late' ? chance.between(500, 4_500) : 0) + chance.between(0.05, 2);
    const backMs = chance.between(0.05, 2);
    const survives = chance.isLucky(0.5);
    const note = (result: string): void => {
      if (asked.says !== undefined) clock.note(`${node.name} ${asked.says}: ${result}`);
    };
    clock.after(asked.isRead === true ? wayMs : this.#inOrder(wayMs), () => {
      // A request that was on its way when the process died may arrive or not.
      if (node.life !== life && !survives) return;
      if (node.life !== life) counters.writtenForTheDead += 1;
      const answer = (reply: R | StoreFailure, ms: number): void => {
        if (node.life === life) clock.afterIn(node, ms, () => resolve(reply));
      };
      if (fate === 'before' || shared.downUntilMs > clock.nowMs) {
        counters.refusedBefore += 1;
        note('the store refuses');
        answer(failure('refused'), backMs);
        return;
      }
      const reply = asked.run();
      note(reply.kind === 'written' || reply.kind === 'worked' ? 'done' : reply.kind);
      if (fate !== 'after') {
        answer(reply, backMs);
        return;
      }
      counters.ambiguous += 1;
      // In half of the cases the node can query the outcome of the commit afterwards.
      if (chance.isLucky(0.5)) {
        answer(reply, chance.between(100, 5_000));
        return;
      }
      if (node.life === life) this.#inDoubt.push(...asked.leases);
      clock.note(`${node.name} ${asked.says ?? 'claims'}: done, but the response is lost`);
      answer(failure('The connection broke at the commit'), chance.between(1, 5_000));
    });
    return promise;
  }

  /** The writes of a single node wait in the queue of its database thread, so none overtakes another. */
  #inOrder(wayMs: number): number {
    const { clock, plan } = this.#deps;
    if (plan.isShared) return wayMs;
    this.#reachedMs = Math.max(this.#reachedMs, clock.nowMs + wayMs);
    return this.#reachedMs - clock.nowMs;
  }

  #fate(isRead: boolean): Fate {
    const { plan, chance, shared } = this.#deps;
    if (shared.isHealed) return 'answered';
    const { failsBefore, failsAfter, stalls } = plan.store;
    if (chance.isLucky(failsBefore)) return 'before';
    if (chance.isLucky(stalls)) return 'late';
    return !isRead && chance.isLucky(failsAfter) ? 'after' : 'answered';
  }

  /** Like src/store/postgres/batch/persist.ts. */
  #freeInDoubt(nowMs: number): void {
    const { shared, clock, node } = this.#deps;
    for (const lease of this.#inDoubt) {
      const rows = shared.db
        .prepare('select event, n from delivery_live where lease = ?')
        .all(lease);
      if (rows.length === 0) continue;
      clock.note(`${node.name} releases ${rows.length} that were leased without a response`);
      const settlements = rows.map((row) => ({
        event: String(row['event']),
        n: Number(row['n']),
        lease,
        outcome: { kind: 'released', waitMs: 0 } as const,
        attempt: undefined,
      }));
      shared.sqlite.work({ nowMs, settlements, claim: undefined, fanOut: undefined });
    }
    this.#inDoubt = [];
  }

  #watch(batch: Batch, reply: BatchReply): void {
    if (reply.kind !== 'written') return;
    const { counters, shared, tell } = this.#deps;
    for (const [at, { verb, input }] of batch.edits.entries()) {
      const one = reply.edits[at];
      if (verb === 'stopNode') shared.farewells.add(input.node);
      if (verb !== 'rescue' || one?.kind !== 'done') continue;
      const { output } = one;
      if ('gone' in output && output.gone > 0) counters.declaredGone += output.gone;
      if ('freed' in output && output.freed > 0) counters.rescued += output.freed;
    }
    if (batch.edits.some(({ verb }) => telling.has(verb))) tell();
  }
}

/** Frequent verbs that are not worth a line in the trace. */
const routine = new Set<string>([
  'heartbeat',
  'rescue',
  'sweep',
  'retain',
  'forget',
  'forgetPatterns',
  'forgetSessions',
  'forgetFeed',
  'forgetReplays',
  'tidyStatistics',
  'keepStatistics',
  'appendFeed',
]);

const telling = new Set<string>(['publish', 'retryDelivery', 'editSubscription', 'rescue']);

/** A short name for the trace. */
function shortOf({ event, n }: { event: string; n: number }): string {
  return `…${event.slice(-6)}_${n}`;
}

function nameOf(settlement: Settlement): string {
  return `${shortOf(settlement)} ${settlement.outcome.kind}`;
}

function toSay(written: readonly string[]): string | undefined {
  return written.length === 0 ? undefined : `writes ${written.join(', ')}`;
}

function failure(message: string): StoreFailure {
  return { kind: 'unavailable', message, trace: '' };
}
