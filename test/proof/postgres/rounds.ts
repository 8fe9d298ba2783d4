// Fault after fault under load, each kind with figures of its own: what was refused meanwhile, and how soon
// all was well again. At the end everything that was answered is looked for.
import { nowMs } from '../../e2e/event-loop-lag.ts';
import type { Finding } from '../finding.ts';
import type { SourceChange } from '../controls/change-source.ts';
import { wrongOrder, type Fault } from './faults.ts';
import { judge } from './judge.ts';
import { heal, setScene, type Scene } from './scene.ts';

/** After the store is back, the first callback comes and all that was due is under way again. */
const healMs = 5_000;

export interface RoundsOptions {
  faults: readonly (Fault & { rounds: number })[];
  seed: number;
  changes?: readonly SourceChange[];
  settings?: Readonly<Record<string, string>>;
  /** How long all may take to end. */
  drainMs?: number;
  /** How long the first callback after a fault is waited for. */
  healPatienceMs?: number;
  say?: (line: string) => void;
}

/** Few places, so that somebody can take all of them. */
const defaults = { max_connections: '45', deadlock_timeout: '200ms' };

export async function faultRounds(options: RoundsOptions): Promise<Finding[]> {
  const { faults, seed, settings = {}, say = () => undefined } = options;
  await using scene = await setScene({
    seed,
    settings: { ...defaults, ...settings },
    ...(options.changes !== undefined && { changes: options.changes }),
  });
  const { load, database } = scene;
  load.begin();
  const kinds: Finding[] = [];
  for (const fault of faults) {
    say(`${fault.name}, ${fault.rounds} rounds`);
    kinds.push(await roundsOf(scene, fault, options.healPatienceMs));
  }
  await load.end();
  const { drainMs } = options;
  const verdict = await judge(database, load, drainMs === undefined ? {} : { drainMs });
  const [row] = await database.query(
    "select deadlocks::int from pg_stat_database where datname = 'ringback'",
  );
  const { accepted, lost, givenUp, committedAfterAll, cameAgain, violations } = verdict;
  const isDeadlocked =
    faults.every(({ name }) => name !== wrongOrder.name) || row?.['deadlocks'] !== 0;
  if (!isDeadlocked)
    violations.push('void: rows were locked in the wrong order, and no deadlock came of it');
  const figures = {
    'events accepted': accepted,
    lost,
    'refusals (503)': load.refusals,
    'refused without a key and never repeated': givenUp,
    'of those, in the database all the same': committedAfterAll,
    'callbacks that came again': cameAgain,
    'deadlocks that the server broke': Number(row?.['deadlocks']),
    'slowest answer, ms': load.slowestAnswerMs,
  };
  const whole = { part: 'postgres: all rounds', figures, violations, events: { accepted, lost } };
  return [...kinds, whole];
}

async function roundsOf(
  scene: Scene,
  fault: Fault & { rounds: number },
  patienceMs: number | undefined,
): Promise<Finding> {
  const { load, random } = scene;
  const violations: string[] = [];
  const worst = { firstMs: 0, allMs: 0 };
  let [inFlight, refused] = [0, load.refusals];
  for (let round = 1; round <= fault.rounds; round += 1) {
    await load.answered.reach(load.answered.count + 50 + Math.floor(random() * 400));
    inFlight += load.inFlight;
    const away = { fromMs: nowMs(), toMs: Infinity };
    load.faults.push(away);
    await fault.inflict(scene);
    const backMs = nowMs();
    const { firstMs, allMs } = await heal(scene, backMs, { patienceMs });
    away.toMs = nowMs();
    worst.firstMs = Math.max(worst.firstMs, firstMs);
    worst.allMs = Math.max(worst.allMs, allMs);
    if (firstMs > healMs) violations.push(`I12: ${fault.name}: first callback after ${firstMs} ms`);
    if (allMs > healMs) violations.push(`I18: ${fault.name}: all work again after ${allMs} ms`);
  }
  refused = load.refusals - refused;
  const figures = {
    rounds: fault.rounds,
    'publishes in flight': inFlight,
    refused,
    'first callback, worst ms': worst.firstMs,
    'all due work, worst ms': worst.allMs,
  };
  return { part: `postgres: ${fault.name}`, figures, violations };
}
