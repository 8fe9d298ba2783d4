// A primary that dies under load, and a standby that takes its place behind the same address. With
// synchronous replication nothing that was answered may be gone. Without it something may: how much, and
// from how long before, is a figure.
import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import { openDatabase } from '../../postgres/database.ts';
import { startPair, type Pair, type Replication } from '../../postgres/primary-and-standby.ts';
import type { PostgresProxy } from '../../postgres/proxy.ts';
import type { Postgres } from '../../postgres/server.ts';
import type { SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';
import { judge } from './judge.ts';
import { heal, setScene, type Healing, type Scene } from './scene.ts';

/**
 * How the primary ends. `unheard`: it is cut off from its standby first, and its backends are ended while
 * they wait for it; what they were to commit is then there for everybody to see, but only here.
 */
export const endings = ['killed', 'frozen', 'unheard'] as const;
export type Ending = (typeof endings)[number];

export interface FailoverOptions {
  replication: Replication;
  /** One after the other. */
  endings: readonly Ending[];
  seed: number;
  changes?: readonly SourceChange[];
  /** How long all may take to end. */
  drainMs?: number;
}

interface Failover extends Healing {
  lost: ReadonlySet<string>;
  /** How long before the end the oldest of those was answered that are lost. */
  windowMs: number;
}

const healMs = 5_000;
const name = 'ringback';
/** So much of the log is kept for a standby that is being made. */
const settings = { wal_keep_size: '512MB' };

export async function failovers(options: FailoverOptions): Promise<Finding> {
  const { replication, seed, changes = [] } = options;
  await using scene = await setScene({ seed, settings, changes });
  await using cleanup = new AsyncDisposableStack();
  let primary = scene.postgres;
  let database = scene.database;
  const lost = new Set<string>();
  const worst = { firstMs: 0, allMs: 0, windowMs: 0 };
  const violations: string[] = [];
  scene.load.begin();
  for (const ending of options.endings) {
    const pair = cleanup.use(await startPair(primary, name));
    await pair.replicate(replication);
    const one = await failOver(scene, pair, ending);
    [primary, database] = [pair.standby, pair.database];
    for (const id of one.lost) lost.add(id);
    worst.firstMs = Math.max(worst.firstMs, one.firstMs);
    worst.allMs = Math.max(worst.allMs, one.allMs);
    worst.windowMs = Math.max(worst.windowMs, one.windowMs);
    if (Math.max(one.firstMs, one.allMs) > healMs) {
      violations.push(`I12: ${ending}: well again after ${one.firstMs} and ${one.allMs} ms`);
    }
  }
  await scene.load.end();
  const mayLose = replication === 'asynchronous' ? lost : new Set<string>();
  const verdict = await judge(database, scene.load, {
    mayLose,
    ...(options.drainMs !== undefined && { drainMs: options.drainMs }),
  });
  violations.push(...verdict.violations);
  const isSafe = replication === 'synchronous';
  return {
    part: `postgres: failover, ${replication} replication`,
    figures: {
      failovers: options.endings.length,
      'events accepted': scene.load.accepted.length,
      [isSafe ? 'lost' : 'lost with the old primary']: lost.size,
      ...(!isSafe && { 'answered at most so long before, ms': worst.windowMs }),
      'events twice': verdict.violations.filter((text) => text.startsWith('I13')).length,
      'callbacks that came again': verdict.cameAgain,
      'refusals (503)': scene.load.refusals,
      'first callback, worst ms': worst.firstMs,
      'all due work, worst ms': worst.allMs,
    },
    violations,
    ...(isSafe && { events: { accepted: verdict.accepted, lost: verdict.lost } }),
  };
}

async function failOver(scene: Scene, pair: Pair, ending: Ending): Promise<Failover> {
  const { load, proxy, random } = scene;
  const { primary, standby, way, database } = pair;
  await load.answered.reach(load.answered.count + 100 + Math.floor(random() * 400));
  const away = { fromMs: nowMs(), toMs: Infinity };
  load.faults.push(away);
  if (ending === 'unheard') await leaveUnheard(primary, way);
  const endMs = nowMs();
  if (ending === 'frozen') primary.freeze();
  else await primary.kill();
  await pair.takeOver();
  proxy.pointTo(standby.url(name));
  const backMs = nowMs();
  if (ending === 'frozen') await primary.kill();
  const kept = new Set(
    (await database.query('select id from ringback.event')).map(
      (row) => `evt_${String(row['id'])}`,
    ),
  );
  const told = [...load.told.values()].filter(({ id, answeredMs }) => {
    return id !== undefined && answeredMs <= backMs && !kept.has(id);
  });
  const lost = new Set(told.map(({ id = '' }) => id));
  load.forget(lost);
  const windowMs = told.reduce((most, { answeredMs }) => Math.max(most, endMs - answeredMs), 0);
  const healing = await heal(scene, backMs, { without: lost });
  away.toMs = nowMs();
  return { ...healing, lost, windowMs };
}

const terminate = `
  select count(pg_terminate_backend(pid)) from pg_stat_activity
  where application_name like 'ringback%'`;

const waiting = "select from pg_stat_activity where wait_event = 'SyncRep'";
const answeredMs = 300;
const terminations = 5;
const patienceMs = 10_000;

/** Until nodes have come back, have asked what became of their commits, and have acted upon it. */
async function leaveUnheard(primary: Postgres, way: PostgresProxy): Promise<void> {
  way.blackHole();
  await using there = openDatabase(primary.url());
  // Without synchronous replication nobody waits, and all goes on here alone.
  const [setting] = await there.query('show synchronous_standby_names');
  const someWait = async (): Promise<void> => {
    if (setting?.['synchronous_standby_names'] !== '*') return;
    const untilMs = nowMs() + patienceMs;
    while ((await there.query(waiting)).length === 0 && nowMs() < untilMs) await wait(20);
  };
  // A node has one batch under way: outcomes and claims, or publishes. All of them are to meet this.
  for (let times = 1; times <= terminations; times += 1) {
    await someWait();
    await wait(answeredMs);
    await there.query(terminate);
  }
  await someWait();
  await wait(2 * answeredMs);
}
