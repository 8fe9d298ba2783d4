// One seed: nodes start, things go wrong, all is healed, everything must end; then the history is judged.
// The same seed goes the same way, step by step.
import { openSecrets } from '../../../src/engine/secrets.ts';
import { adapterOn } from '../../../src/store/sqlite/adapter.ts';
import type { Flaw, History } from '../invariants/history.ts';
import { judge } from '../invariants/judge.ts';
import { seededChance } from './chance.ts';
import { Clients } from './clients.ts';
import { Clock } from './clock.ts';
import { noCounters, type Counters } from './counters.ts';
import {
  openDatabase,
  prepareLooks,
  readDeliveries,
  readEvents,
  readLog,
  type Looks,
} from './database.ts';
import { ring } from './engine.ts';
import { beginFaults, heal } from './faults.ts';
import { simulatedNetwork } from './network.ts';
import { epochMs, SimulatedNode, type Simulation } from './node.ts';
import { drawPlan } from './plan.ts';

export interface Run {
  seed: number;
  flaws: readonly Flaw[];
  counters: Counters;
  /** Of all steps. */
  print: string;
  steps: number;
  simulatedMs: number;
  lines: readonly string[];
}

const startMs = 60_000;
/** After the heal: a breaker waits for some minutes, and a lane that failed catches up. */
const healMs = 30 * 60_000;
const quietMs = 1_000;
const stopMs = 60_000;
const snapshotEveryMs = 5_000;

export async function runSeed(seed: number): Promise<Run> {
  const sim = prepare(seed);
  const { clock, plan, shared, looks, nodes, flaws } = sim;
  const clients = new Clients(sim);
  const snapshots = new Set<string>();
  for (const node of nodes) node.start();
  const isUp = (): boolean => nodes.every(({ state }) => state === 'up');
  const found: Flaw[] = [];
  shared.isHealed = true; // Until all have begun.
  if (!(await clock.runUntil(startMs, isUp))) found.push(stuck('nodes did not start'));
  for (let count = 0; count < plan.subscriptions; count += 1) {
    clients.begin(async () => clients.subscribe());
  }
  await clock.runUntil(startMs, () => clients.open === 0);
  shared.isHealed = false;
  const beganMs = clock.nowMs;
  sim.plan.faultsMs += beganMs;
  beginFaults(sim, clients);
  const look = (): void => {
    for (const flaw of looks.snapshotFlaws()) snapshots.add(flaw);
    if (snapshots.size === 0) clock.after(snapshotEveryMs, look);
  };
  look();
  await clock.runUntil(plan.faultsMs, () => false);
  heal(sim);
  const isQuiet = (): boolean =>
    clients.open === 0 && nodes.every((one) => one.state === 'up' && !one.isFrozen);
  await clock.runUntil(plan.faultsMs + healMs, isQuiet);
  await clock.runUntil(clock.nowMs + quietMs, () => false);
  clients.begin(async () => clients.resumeAll());
  if (!(await hasEnded(sim, isQuiet))) {
    found.push(stuck(`${looks.countPending()} are pending, ${clients.open} calls are open`));
  }
  let running = nodes.length;
  for (const node of nodes) node.stop(() => (running -= 1));
  if (!(await clock.runUntil(clock.nowMs + stopMs, () => running === 0))) {
    found.push(stuck(`${running} nodes did not stop`));
  }
  look();
  found.push(...flaws.map((what) => ({ invariant: flawOf(what), what })));
  found.push(...judge(historyOf(sim, clients, [...snapshots])));
  countEnds(
    sim,
    clients.subscribers.flatMap(({ id, isOrdered }) => (isOrdered ? [id] : [])),
  );
  shared.sqlite.close();
  return {
    seed,
    flaws: found,
    counters: sim.counters,
    print: clock.print(),
    steps: clock.steps,
    simulatedMs: clock.nowMs,
    lines: clock.lines(),
  };
}

interface Looking extends Simulation {
  looks: Looks;
}

function prepare(seed: number): Looking {
  const plan = drawPlan(seed);
  const chance = seededChance(seed);
  const clock = new Clock();
  const counters = { ...noCounters };
  const db = openDatabase(() => clock.nowMs);
  const shared = {
    sqlite: adapterOn(db),
    db,
    downUntilMs: 0,
    lastDownMs: -1,
    isHealed: false,
    farewells: new Set<number>(),
  };
  const looks = prepareLooks(db);
  const network = simulatedNetwork({ plan, clock, chance, counters });
  const nodes: SimulatedNode[] = [];
  const sim = {
    plan,
    clock,
    chance,
    counters,
    shared,
    network,
    nodes,
    looks,
    deaths: [],
    flaws: [],
  };
  for (let at = 1; at <= plan.nodes; at += 1) nodes.push(new SimulatedNode(sim, `n${at}`));
  return sim;
}

/** Whether everything ends, and nothing new comes of what was asked before. */
async function hasEnded({ clock, plan, looks }: Looking, isQuiet: () => boolean): Promise<boolean> {
  const isDone = (): boolean => isTime(clock) && isQuiet() && looks.countPending() === 0;
  const untilMs = plan.faultsMs + healMs;
  while (clock.nowMs < untilMs) {
    if (!(await clock.runUntil(untilMs, isDone))) return false;
    await clock.runUntil(clock.nowMs + quietMs, () => false);
    if (isQuiet() && looks.countPending() === 0) return true;
  }
  return false;
}

/** Looking into the database after every step would be most of the work. */
function isTime(clock: Clock): boolean {
  return clock.steps % 16 === 0;
}

function stuck(what: string): Flaw {
  return { invariant: 'liveness', what };
}

function flawOf(what: string): string {
  return /^(I\d+):/.exec(what)?.[1] ?? 'error';
}

function historyOf(
  { plan, network, shared, deaths }: Simulation,
  { publishes, subscribers, unknownSubscribes, redriven }: Clients,
  snapshots: readonly string[],
): History {
  const { db } = shared;
  const secrets = db.prepare(
    `select secrets, app.id as app from subscription join app on app.no = subscription.app
    where subscription.id = ?`,
  );
  const subscriptions = subscribers.map((one) => {
    const row = secrets.get(one.id.slice(4));
    const owner = { appId: String(row?.['app']), subscriptionId: one.id.slice(4) };
    const sealed = row?.['secrets'];
    const known = sealed instanceof Uint8Array ? openSecrets(ring, owner, sealed) : [];
    return { ...one, secrets: known.map(({ secret }) => secret) };
  });
  return {
    waitsMs: plan.waitsMs,
    isShared: plan.isShared,
    isCalm: plan.isCalm,
    publishes,
    subscriptions,
    unknownSubscribes,
    sends: network.sends,
    events: readEvents(db),
    deliveries: readDeliveries(db),
    redriven,
    log: readLog(db),
    deaths,
    snapshotFlaws: snapshots,
    farewells: shared.farewells,
    epochMs,
  };
}

function countEnds({ counters, network, shared }: Simulation, isOrdered: readonly string[]): void {
  for (const { state } of readDeliveries(shared.db)) {
    if (state !== 'pending') counters[state] += 1;
  }
  const ordered = new Set(isOrdered);
  const taken = new Set<string>();
  for (const { delivery, reply = 0, startedMs, subscription } of network.sends) {
    if (reply >= 400 && ordered.has(subscription)) counters.orderedFailures += 1;
    if (startedMs !== undefined && taken.has(delivery)) counters.duplicates += 1;
    if (reply >= 200 && reply <= 299) taken.add(delivery);
  }
}
