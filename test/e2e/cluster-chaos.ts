// Three nodes on one PostgreSQL under full load, while nodes are killed and frozen and the database is killed, at times
// drawn from a seed. After everything has recovered, all guarantees are checked.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../postgres/database.ts';
import { createLoad, type Load } from './chaos-load.ts';
import { Slot } from './chaos-nodes.ts';
import { attemptsMax, findPending, install, judge, snapshotFlaws } from './chaos-oracle.ts';
import { planOf, type Fault, type Plan } from './chaos-plan.ts';
import { ChaosRecord } from './chaos-record.ts';
import { ownDatabase, type OwnDatabase } from './cluster.ts';
import { patienceMs } from './awaitable-count.ts';
import { until } from './stage.ts';
import { nowMs } from './event-loop-lag.ts';

export interface ChaosReport {
  seed: number;
  seconds: number;
  events: number;
  deliveries: number;
  delivered: number;
  dead: number;
  cancelled: number;
  duplicates: Record<string, number>;
  kills: number;
  freezes: number;
  outages: number;
  /** Calls that got 503, and calls without a response. */
  refused: number;
  lost: number;
  slowestAnswerMs: number;
  longestGapMs: number;
}

/** Throws if a guarantee was broken; the message contains the seed. */
export async function chaos(seed: number, events: number): Promise<ChaosReport> {
  const plan = planOf(seed, events);
  const record = new ChaosRecord();
  const startMs = nowMs();
  try {
    await using stage = await setUp(plan, record);
    await stage.load.begin();
    const watching = watch(stage.own.database, record);
    try {
      await Promise.all([stage.load.run(), ...plan.faults.map(async (one) => inflict(stage, one))]);
      record.loadEndedMs = nowMs();
      await heal(stage);
      await drained(stage.own.database);
    } finally {
      await watching.end();
    }
    const { flaws, ...figures } = await judge(stage.own.database, record);
    assert.deepEqual(flaws.slice(0, 20), [], `${flaws.length} flaws`);
    await retryDead(stage);
    return {
      seed,
      seconds: Math.round((nowMs() - startMs) / 1000),
      events: record.events.length,
      ...figures,
      kills: record.kills.length,
      freezes: record.freezes.length,
      outages: record.outages.length,
      ...record.unanswered,
      slowestAnswerMs: record.slowestAnswerMs,
      longestGapMs: record.longestGapMs(),
    };
  } catch (error) {
    throw new Error(`chaos, seed ${seed}: ${String(error)}`, { cause: error });
  } finally {
    record.close();
  }
}

export function summaryOf(report: ChaosReport): string {
  const { seed, seconds, events, deliveries, delivered, dead, cancelled } = report;
  const causes = Object.entries(report.duplicates).map(([cause, count]) => `${count} ${cause}`);
  return (
    `seed ${seed}, ${seconds} s: ${events} events, ${deliveries} deliveries (${delivered} delivered, ` +
    `${dead} dead, ${cancelled} cancelled), duplicates: ${causes.join(', ') || 'none'}; ` +
    `${report.kills} kills, ${report.freezes} freezes, ${report.outages} outages; ` +
    `${report.refused} calls got 503, ${report.lost} no answer, the slowest answer took ` +
    `${report.slowestAnswerMs} ms; longest gap ${report.longestGapMs} ms`
  );
}

interface Stage extends AsyncDisposable {
  own: OwnDatabase;
  slots: readonly Slot[];
  load: Load;
  record: ChaosRecord;
}

async function setUp(plan: Plan, record: ChaosRecord): Promise<Stage> {
  await using cleanup = new AsyncDisposableStack();
  const own = cleanup.use(await ownDatabase());
  const env = {
    RINGBACK_RETRY: Array.from({ length: attemptsMax - 1 }, () => '1s').join(','),
    // The longest: if a receiver responded too late on a busy machine, a duplicate would come without a recorded cause.
    RINGBACK_TIMEOUT: '60s',
  };
  const slots = Array.from({ length: plan.nodes }, (_, at) =>
    cleanup.use(new Slot(`node-${at}`, { url: own.url, record, env })),
  );
  await slots[0]?.start(); // It migrates the schema.
  await Promise.all(slots.map(async (slot) => slot.start()));
  await install(own.database);
  const load = cleanup.use(createLoad(plan, slots, record));
  const running = cleanup.move();
  const dispose = async (): Promise<void> => running.disposeAsync();
  return { own, slots, load, record, [Symbol.asyncDispose]: dispose };
}

async function inflict({ own, slots, load, record }: Stage, fault: Fault): Promise<void> {
  await wait(Math.max(fault.atMs - load.planMs(), 0));
  switch (fault.kind) {
    case 'kill': {
      const slot = slots[fault.node];
      await slot?.kill();
      await wait(fault.downMs);
      await slot?.start();
      return;
    }
    case 'freeze':
      await slots[fault.node]?.freeze(fault.forMs);
      return;
    case 'outage': {
      const outage = { fromMs: nowMs(), toMs: Infinity };
      record.outages.push(outage);
      await own.postgres.kill();
      await wait(fault.forMs);
      await own.postgres.start();
      outage.toMs = nowMs();
    }
  }
}

/** Checks the database every second: the counts must agree at every moment. */
function watch(database: Database, record: ChaosRecord): { end: () => Promise<void> } {
  const over = new AbortController();
  const look = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const flaws = await snapshotFlaws(database).catch(() => []); // The database is down at the moment.
      record.flaws.push(...flaws);
      await wait(1_000, undefined, { signal: over.signal }).catch(() => undefined);
    }
  };
  const looking = look();
  return {
    end: async () => {
      over.abort();
      await looking;
    },
  };
}

/**
 * Waits until every node has recovered by itself. A call that was lost in a frozen node may have been executed late, so
 * all subscriptions are resumed.
 */
async function heal({ load, record, slots }: Stage): Promise<void> {
  load.phase = 'heal';
  for (const { name, node } of slots) {
    assert(node, `${name} runs`);
    await until(
      async () => (await node.call({ path: '/readyz', key: null })).status,
      (status) => status === 200,
    );
  }
  for (const { id } of record.subscriptions) {
    const call = { method: 'PATCH', path: `/subscriptions/${id}`, body: { state: 'active' } };
    await load.caller.insist(call, [200, 409]);
  }
}

/** Resolves when nothing is pending. Rejects if nothing has ended for a while. */
async function drained(database: Database): Promise<void> {
  let least = Infinity;
  let untilMs = Infinity;
  for (;;) {
    const { count, some } = await findPending(database);
    if (count === 0) return;
    if (count < least) untilMs = nowMs() + patienceMs;
    least = Math.min(least, count);
    assert.ok(nowMs() < untilMs, `${count} deliveries never ended: ${JSON.stringify(some)}`);
    await wait(200);
  }
}

/** A retry by hand is the only way out of an end state: every dead delivery is retried, and now succeeds. */
async function retryDead({ own, load }: Stage): Promise<void> {
  const dead = 'select event, n from ringback.delivery_done where state = 2 order by event, n';
  const rows = await own.database.query(dead);
  for (const { event, n } of rows) {
    const path = `/deliveries/dlv_${String(event)}_${String(n)}/retry`;
    await load.caller.insist({ method: 'POST', path }, [202]);
  }
  await drained(own.database);
  assert.deepEqual(await own.database.query(dead), [], 'a retried dead delivery is delivered');
  const changed = await own.database.query('select event, n from chaos.changed order by event, n');
  assert.deepEqual(changed, rows, 'nothing but an explicit retry leaves a terminal state');
}
