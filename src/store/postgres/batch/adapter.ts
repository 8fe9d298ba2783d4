// The adapter of PostgreSQL, for one node of a cluster. Publishes, other edits and work have a connection each, and
// reads have a few. One connection listens for notifications, one sends them, and two run upkeep when it is due. A
// failure is returned as a reply, never thrown.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { packageFolder } from '../../../core/base/package.ts';
import type { World } from '../../../core/base/world.ts';
import { limits } from '../../../core/limits/limits.ts';
import {
  toError,
  type Batch,
  type BatchReply,
  type StoreFailure,
  type Transport,
  type WorkReply,
  type EditCall,
} from '../../port/transport-protocol.ts';
import type { Work } from '../../port/delivery-verbs.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { createStalledFanOuts, withFailures } from '../../rules/fan-outs.ts';
import { createPendingStatistics } from '../../statistics/pending-statistics.ts';
import { cannotConnect } from '../connection/cannot-open.ts';
import { databaseClock, givenClock, type Clock } from '../connection/clock.ts';
import { storeFailure, unavailable, verbFailure } from '../connection/failure.ts';
import { NotifyListener } from '../connection/notify-listener.ts';
import { ReconnectingClient } from '../connection/reconnecting-client.ts';
import type { Tx } from '../connection/tx.ts';
import { inboxIds } from '../publish/inbox.ts';
import { createListenerCache } from '../publish/match.ts';
import { applyMigrations } from '../schema/apply-migrations.ts';
import { createSlices, type Slices } from '../publish/slices.ts';
import { createSweep } from '../upkeep/sweep.ts';
import { PartitionUpkeep } from '../upkeep/retain.ts';
import { takeWriter } from '../upkeep/statistics.ts';
import {
  createInDoubtCommits,
  type InDoubtCommits,
  createPersist,
  isFailure,
  leasesOf,
  noEvents,
  type Persist,
} from './persist.ts';
import { createLeaseLedger, type LeaseLedger } from './lease-ledger.ts';
import { createReaders } from './readers.ts';
import {
  doFanOut,
  doWork,
  findsNothing,
  keepFloors,
  nothingDone,
  type WorkContext,
  type WorkDone,
} from './work.ts';
import { findsNothingNew, isWorthNotifying, writeBatch } from './write.ts';
import { counting, createPrecedence, inTurn, type WriterConnection } from './writer-connection.ts';

export interface PostgresOptions {
  url: string;
  world: World;
  /** Another node has made work ready. */
  onNotified: () => void;
  /** `given`: the time is that of the batches, for tests that simulate the world. */
  clock?: 'database' | 'given';
  /** How long quiet lanes linger; tests that compare rows set it high. */
  lingerMs?: { least: number; most: number };
  /** How far before the first lane of the last claim scans begin; such tests set it high, too. */
  floorMs?: number;
  /** All connections count figures in one row, where they wait for each other; for such tests, too. */
  isOneWriter?: boolean;
}

export const postgresMigrationsDir = join(packageFolder, 'migrations', 'postgres');

export interface PostgresTransport extends Transport {
  /** The time that all nodes share. */
  nowMs(): number;
  /** Applies the retention. It may take long, so it runs beside the batches. */
  retain(input: EditInput<'retain'>): Promise<EditOutput<'retain'>>;
}

/** Migrates the schema, then opens. Rejects with CannotOpenStore. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresTransport> {
  const { url, world } = options;
  await applyMigrations({ url, migrationsDir: postgresMigrationsDir, nowMs: world.nowMs() });
  const node = new PostgresNode(options);
  try {
    await node.begin();
  } catch (error) {
    await node.close();
    throw cannotConnect(url, error);
  }
  return {
    send: async (batch) => node.send(batch),
    work: async (work) => node.work(work),
    read: async (call) => node.readers.read(call),
    nowMs: () => node.nowMs(),
    retain: async (input) => node.retain(input),
    close: async () => node.close(),
  };
}

/** With slices of its own: a transaction that extends the span of a slice locks it until it ends. */
type EditSide = WriterConnection & { slices: Slices };

class PostgresNode {
  readonly readers;
  readonly #options: PostgresOptions;
  readonly #clock: Clock;
  readonly #publishes: EditSide;
  readonly #edits: EditSide;
  readonly #work: WriterConnection;
  /** For statements that wait for nothing else. */
  readonly #sideClient: ReconnectingClient;
  readonly #upkeep: PartitionUpkeep;
  #upkeepWriter = 0;
  readonly #notifier: NotifyListener;
  readonly #memory;
  readonly #inDoubt = createInDoubtCommits();
  readonly #persist: Persist;
  readonly #held: LeaseLedger;
  readonly #stop = new AbortController();
  readonly #ticking: Promise<void>;
  /**
   * Runs publishes and the release of unheld leases one at a time, because a publish leases deliveries that no window
   * holds yet.
   */
  readonly #alone = inTurn();
  /**
   * Outcomes are sent once publishes are written, so that they go to disk while the deliveries of
   * those are sent.
   */
  readonly #order;

  constructor(options: PostgresOptions) {
    const { url, world } = options;
    this.#options = options;
    this.#memory = {
      listenerCache: createListenerCache(),
      sweep: createSweep(),
      floors: keepFloors(options.floorMs),
      turns: { lastApp: 0 },
      stalled: createStalledFanOuts(),
    };
    this.#order = createPrecedence(world);
    this.#clock = options.clock === 'given' ? givenClock(world) : databaseClock(world);
    this.readers = createReaders(
      () => new ReconnectingClient({ url, kind: 'engine', purpose: 'read' }),
    );
    const pending = createPendingStatistics();
    const side = (purpose: 'publish' | 'edit' | 'work'): WriterConnection => {
      const link = new ReconnectingClient({ url, kind: 'engine', purpose });
      return { link, pending: pending.beside(), writer: 0 };
    };
    this.#publishes = { ...side('publish'), slices: createSlices() };
    this.#edits = { ...side('edit'), slices: createSlices() };
    this.#work = side('work');
    this.#sideClient = new ReconnectingClient({ url, kind: 'plain', purpose: 'side' });
    const making = new ReconnectingClient({ url, kind: 'schema', purpose: 'days' });
    const keeping = new ReconnectingClient({ url, kind: 'schema', purpose: 'house' });
    const figures = { pending, writer: () => this.#upkeepWriter, stalled: this.#memory.stalled };
    this.#upkeep = new PartitionUpkeep({ making, keeping, world, ...figures });
    this.#persist = createPersist({ world, upkeep: this.#upkeep, inDoubt: this.#inDoubt });
    this.#held = createLeaseLedger({
      link: this.#work.link,
      persist: this.#persist,
      alone: this.#alone,
    });
    const listening = new ReconnectingClient({ url, kind: 'plain', purpose: 'listen' });
    this.#notifier = new NotifyListener({
      listening,
      notifying: this.#sideClient,
      world,
      onNotified: options.onNotified,
    });
    this.#ticking = this.#tick();
  }

  async begin(): Promise<void> {
    await this.#syncClock();
    const first = await this.#sideClient.use(takeWriter);
    // One writer number each: with a shared one, publishes and outcomes would wait for each other's
    // commit.
    const next = async (): Promise<number> =>
      this.#options.isOneWriter === true ? first : this.#sideClient.use(takeWriter);
    this.#publishes.writer = first;
    for (const side of [this.#edits, this.#work]) side.writer = await next();
    this.#upkeepWriter = await next();
  }

  async send(batch: Batch): Promise<BatchReply> {
    const isPublish = batch.edits.every(({ verb }) => verb === 'publish');
    if (!isPublish) return this.#send(this.#edits, batch);
    const publish = async (): Promise<BatchReply> => this.#send(this.#publishes, batch);
    return this.#order.ahead(async () => this.#alone(publish));
  }

  async #send(side: EditSide, batch: Batch): Promise<BatchReply> {
    assert(batch.settlements.length === 0, 'Outcomes go beside edits here, not with them');
    const nowMs = this.#clock.at(batch.nowMs);
    const givenMs = this.#options.clock === 'given' ? nowMs : null;
    const { stalled, ...memory } = this.#memory;
    const { link, pending } = side;
    const context = { ...memory, ...side, nowMs, givenMs };
    const input = { ...batch, stalled, world: this.#options.world, context };
    const events = async (): Promise<string[]> => eventsOf(link, batch.edits);
    const deps = { link, leases: leasesOf(batch.offer), events };
    const idle = await this.#look(link, async (tx) => findsNothingNew(tx, input));
    const written =
      idle ??
      (await counting(side, nowMs, async () =>
        this.#persist(deps, async (tx, mode) => {
          pending.undo(); // Figures taken by an earlier try were not written.
          return writeBatch(tx, input, mode);
        }),
      ));
    if (isFailure(written)) return written;
    if (isWorthNotifying(written, batch)) this.#notifier.notify();
    const { replies: edits, fresh, nextWork } = written;
    this.#held.took(fresh, batch.offer);
    const reply = { kind: 'written', settled: [], edits, fresh, nextWork } as const;
    const postponed = batch.edits.length - edits.length;
    return postponed === 0 ? reply : { ...reply, postponed };
  }

  async work(work: Work): Promise<WorkReply> {
    await this.#order.behind(async () => this.#work.link.hold());
    const reply = await this.#runWork(work);
    this.#held.worked(work, reply);
    return reply;
  }

  async #runWork(work: Work): Promise<WorkReply> {
    const nowMs = this.#clock.at(work.nowMs);
    const { link, pending, writer } = this.#work;
    const { floors, turns, stalled } = this.#memory;
    const { lingerMs = { least: limits.lingerMs, most: limits.lingerMaxMs } } = this.#options;
    const context = { nowMs, floors, turns, stalled, lingerMs, pending, writer };
    const inDoubtDeps = { inDoubt: this.#inDoubt, link, persist: this.#persist };
    const failed =
      (await freeInDoubt(inDoubtDeps, nowMs)) ?? (await this.#held.freeForgotten(nowMs));
    if (failed !== undefined) return failed;
    const look = async (tx: Tx): Promise<WorkDone | undefined> => findsNothing(tx, work, context);
    const idle = work.settlements.length === 0 ? await this.#look(link, look) : undefined;
    if (idle !== undefined && isFailure(idle)) return idle;
    const done = idle ?? (await this.#settleAndClaim(work, context));
    if (isFailure(done)) return done;
    const all = idle === undefined ? await this.#fanOut(work, done, context) : done;
    if (isFailure(all)) return all;
    if (all.waiting > 0) this.#notifier.notify();
    const fannedOut = withFailures(all.worked.fannedOut, this.#memory.stalled);
    return { kind: 'worked', ...all.worked, fannedOut };
  }

  async #settleAndClaim(work: Work, context: WorkContext): Promise<WorkDone | StoreFailure> {
    if (work.settlements.length === 0 && work.claim === undefined) return nothingDone;
    const events = async (): Promise<string[]> => work.settlements.map(({ event }) => event);
    const deps = { link: this.#work.link, leases: leasesOf(work.claim), events };
    return counting(this.#work, context.nowMs, async () =>
      this.#persist(deps, async (tx, mode) => {
        context.pending.undo();
        return doWork(tx, work, context, mode);
      }),
    );
  }

  /**
   * A failed step is tried again with the next work, so that it does not fail work that was
   * committed.
   */
  async #fanOut(
    work: Work,
    done: WorkDone,
    context: WorkContext,
  ): Promise<WorkDone | StoreFailure> {
    if (work.fanOut === undefined || !done.worked.fannedOut.isMore) return done;
    const deps = { link: this.#work.link, leases: leasesOf(work.fanOut), events: noEvents };
    const fannedOut = await counting(this.#work, context.nowMs, async () =>
      this.#persist(deps, async (tx, mode) => {
        context.pending.undo();
        return doFanOut(tx, { work, done, context }, mode);
      }),
    );
    const { settled, claimed } = done.worked;
    const isAlone = settled.length === 0 && claimed.length === 0;
    return isFailure(fannedOut) && !isAlone ? done : fannedOut;
  }

  async #syncClock(): Promise<void> {
    await this.#sideClient.use(async (tx) => this.#clock.sync(tx));
  }

  nowMs(): number {
    // The monotonic clock, which counts between two readings, stopped during the suspension.
    if (this.#clock.wasSuspended()) void this.#syncClock().catch(() => undefined);
    return this.#clock.now();
  }

  async retain(input: EditInput<'retain'>): Promise<EditOutput<'retain'>> {
    try {
      return await this.#upkeep.retain(input, this.nowMs());
    } catch (error) {
      throw toError(storeFailure(error) ?? verbFailure('retain', error));
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    // In parallel, because with a server that does not answer each of them waits for its timeout.
    await Promise.all([
      this.#notifier[Symbol.asyncDispose](),
      this.#upkeep.close(),
      this.readers.close(),
      this.#work.link.close(),
      this.#edits.link.close(),
      this.#publishes.link.close(),
    ]);
    await this.#ticking;
  }

  /** A read without a transaction, run several times a second: most find nothing. */
  async #look<T>(
    link: ReconnectingClient,
    body: (tx: Tx) => Promise<T>,
  ): Promise<T | StoreFailure> {
    try {
      return await link.use(body);
    } catch (error) {
      return unavailable(error);
    }
  }

  async #tick(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#options.world.sleep(limits.databaseClockMs, signal).catch(() => undefined);
      // A failed reading does no harm: the clock goes on from the last one.
      if (!signal.aborted) await this.#syncClock().catch(() => undefined);
    }
  }
}

// Which events a batch of edits adds to the history, needed when the partitions of their days are
// missing.

/** New events, and rejected ones of the inbox, where they may have been for days. */
async function eventsOf(link: ReconnectingClient, edits: readonly EditCall[]): Promise<string[]> {
  const published = edits.flatMap((call) => (call.verb === 'publish' ? call.input.events : []));
  const rejected = edits.flatMap((call) => (call.verb === 'rejectInbox' ? [call.input.no] : []));
  const ids = published.map(({ id }) => id);
  if (rejected.length === 0) return ids;
  return [...ids, ...(await link.use(async (tx) => inboxIds(tx, rejected)))];
}

// Releases deliveries that this node may hold without knowing it, because the outcome of a commit
// stayed unknown.

interface InDoubtDeps {
  inDoubt: InDoubtCommits;
  link: ReconnectingClient;
  persist: Persist;
}

async function freeInDoubt(
  { inDoubt, link, persist }: InDoubtDeps,
  nowMs: number,
): Promise<StoreFailure | undefined> {
  if (inDoubt.isEmpty()) return undefined;
  const settled = await persist({ link, leases: [], events: noEvents }, async (tx) => ({
    result: await inDoubt.settle(tx, nowMs),
    written: [],
  }));
  if (isFailure(settled)) return settled;
  inDoubt.forget(settled);
  return undefined;
}
