// Runs one seed: nodes start, faults occur and end, all work must finish, and then the history is checked. The same seed
// repeats exactly the same steps.
import { limits } from '../../../src/core/limits/limits.ts';
import { openSecrets } from '../../../src/engine/targets/secrets.ts';
import { adapterOn } from '../../../src/store/sqlite/batch/adapter.ts';
import { prepareRebase } from '../../../src/store/sqlite/upkeep/rebase-times.ts';
import type { Flaw, History } from '../invariants/history.ts';
import { judge } from '../invariants/judge.ts';
import { seededChance } from './chance.ts';
import { gatherClients, type Clients } from './clients.ts';
import { Clock } from './clock.ts';
import { noCounters, type Counters } from './counters.ts';
import { countEnds } from './count-ends.ts';
import {
  openDatabase,
  prepareLooks,
  readDeliveries,
  readEvents,
  readLog,
  readReplays,
  type Looks,
} from './database.ts';
import { ring } from './engine.ts';
import { beginFaults, heal } from './faults.ts';
import { simulatedNetwork } from './network.ts';
import { epochMs, SimulatedNode, type Simulation } from './node.ts';
import { drawPlan, type Plan } from './plan.ts';
import type { SharedStore } from './store.ts';

export interface Run {
  seed: number;
  flaws: readonly Flaw[];
  /** Acknowledged events that are missing, or did not reach every subscription. */
  lost: number;
  counters: Counters;
  /** The fingerprint of all steps. */
  print: string;
  steps: number;
  simulatedMs: number;
  lines: readonly string[];
}

export const startMs = 60_000;
/** Time to recover: a circuit breaker waits for some minutes, and then its lane has to catch up. */
export const healMs = 30 * 60_000;
const quietMs = 1_000;
export const stopMs = 60_000;
const snapshotEveryMs = 5_000;

export async function runSeed(seed: number): Promise<Run> {
  return runPlan(drawPlan(seed));
}

/** Usually enough to find the cause of a violation. */
const linesKept = 200;

export async function runPlan(plan: Plan, kept = linesKept): Promise<Run> {
  return withLimits(plan, async () => simulate(structuredClone(plan), kept));
}

/** The product treats these limits as constants. Changing them is safe, because nothing else runs meanwhile. */
export async function withLimits<T>(plan: Plan, run: () => Promise<T>): Promise<T> {
  const before = { ...limits };
  Object.assign(limits, plan.limits);
  try {
    return await run();
  } finally {
    Object.assign(limits, before);
  }
}

async function simulate(drawn: Plan, kept: number): Promise<Run> {
  const sim = prepare(drawn, kept);
  const { clock, plan, shared, looks, nodes, flaws } = sim;
  const clients = gatherClients(sim);
  const { outside, subscribers } = clients;
  const snapshots = new Set<string>();
  for (const node of nodes) node.start();
  const isUp = (): boolean => nodes.every(({ state }) => state === 'up');
  const found: Flaw[] = [];
  shared.isHealed = true; // No faults until all nodes have started.
  if (!(await clock.runUntil(startMs, isUp))) found.push(stuck('nodes did not start'));
  for (let count = 0; count < plan.subscriptions; count += 1) {
    outside.begin(async () => subscribers.subscribe());
  }
  await clock.runUntil(startMs, () => outside.open === 0);
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
    outside.open === 0 && nodes.every((one) => one.state === 'up' && !one.isFrozen);
  await clock.runUntil(plan.faultsMs + healMs, isQuiet);
  await clock.runUntil(clock.nowMs + quietMs, () => false);
  outside.begin(async () => subscribers.resumeAll());
  if (!(await hasEnded(sim, isQuiet))) {
    found.push(stuck(`${looks.countPending()} are pending, ${outside.open} calls are open`));
  }
  let running = nodes.length;
  for (const node of nodes) node.stop(() => (running -= 1));
  if (!(await clock.runUntil(clock.nowMs + stopMs, () => running === 0))) {
    found.push(stuck(`${running} nodes did not stop`));
  }
  look();
  found.push(...flaws.map(flawOf));
  const history = historyOf(sim, clients, [...snapshots]);
  found.push(...judge(history));
  countEnds(sim.counters, history);
  shared.sqlite.close();
  return {
    seed: plan.seed,
    flaws: found,
    lost: lostIn(found),
    counters: sim.counters,
    print: clock.print(),
    steps: clock.steps,
    simulatedMs: clock.nowMs,
    lines: clock.lines(),
  };
}

export interface Looking extends Simulation {
  looks: Looks;
}

export function prepare(plan: Plan, kept: number): Looking {
  const chance = seededChance(plan.seed);
  const clock = new Clock(kept);
  const counters = { ...noCounters };
  const db = openDatabase({ nowMs: () => clock.nowMs, writtenMs: () => shared.writtenMs });
  const shared: SharedStore = {
    sqlite: adapterOn(db, plan.isShared ? {} : { rebase: prepareRebase(db) }),
    db,
    downUntilMs: 0,
    lastDownMs: -1,
    isHealed: false,
    writtenMs: 0,
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
    clockSteps: [],
    flaws: [],
  };
  for (let at = 1; at <= plan.nodes; at += 1) nodes.push(new SimulatedNode(sim, `n${at}`));
  return sim;
}

/** Whether all work ends, and earlier requests cause no more. */
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

/** Querying the database after every step would take most of the time. */
function isTime(clock: Clock): boolean {
  return clock.steps % 16 === 0;
}

function lostIn(flaws: readonly Flaw[]): number {
  const ids = flaws.flatMap(({ invariant, what }) => {
    const id = /\b(?:evt|dlv)_(\w{26})/.exec(what)?.[1];
    return invariant === 'I1' && id !== undefined ? [id] : [];
  });
  return new Set(ids).size;
}

export function stuck(what: string): Flaw {
  return { invariant: 'liveness', what };
}

export function flawOf(text: string): Flaw {
  const [, invariant, what] = /^(I\d+): (.*)$/s.exec(text) ?? [];
  return { invariant: invariant ?? 'error', what: what ?? text };
}

function historyOf(
  { plan, network, shared, deaths, clockSteps }: Simulation,
  { publishers: { publishes }, subscribers, redrivers }: Clients,
  snapshots: readonly string[],
): History {
  const { db } = shared;
  const secrets = db.prepare(
    `select secrets, app.id as app from subscription join app on app.no = subscription.app
    where subscription.id = ?`,
  );
  const subscriptions = subscribers.all.map((one) => {
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
    unknownSubscribes: subscribers.unknown,
    sends: network.sends,
    events: readEvents(db),
    deliveries: readDeliveries(db),
    redriven: redrivers.redriven,
    replaysAsked: redrivers.replays,
    replays: readReplays(db),
    clockSteps,
    log: readLog(db),
    deaths,
    snapshotFlaws: snapshots,
    farewells: shared.farewells,
    epochMs,
  };
}
