// Shrinks a plan as long as a smaller one still causes the violation, because fewer nodes, events and faults are easier
// to analyse. Random choices differ in every plan, so a smaller one may miss the violation; then another is tried.
import type { Plan } from './plan.ts';
import { runPlan, type Run } from './run.ts';

const triesMax = 400;

export interface Shrunk {
  plan: Plan;
  run: Run;
  tries: number;
}

/** `invariant`: the one that must still be violated. */
export async function shrink(
  drawn: Plan,
  invariant: string,
  onSmaller: (what: string) => void,
): Promise<Shrunk> {
  let shrunk: Shrunk = { plan: drawn, run: await runPlan(drawn), tries: 0 };
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const { what, change } of changes) {
      const plan = change(shrunk.plan);
      if (plan === undefined || shrunk.tries >= triesMax) continue;
      const run = await runPlan(plan);
      const tries = shrunk.tries + 1;
      const isSame = run.flaws.some((flaw) => flaw.invariant === invariant);
      shrunk = isSame ? { plan, run, tries } : { ...shrunk, tries };
      if (!isSame) continue;
      isSmaller = true;
      onSmaller(what);
    }
  }
  return shrunk;
}

interface Change {
  what: string;
  /** Undefined if the plan is already as small as that. */
  change: (plan: Plan) => Plan | undefined;
}

type Count = 'nodes' | 'events' | 'subscriptions' | 'receivers';
type Share =
  | 'orderedShare'
  | 'keyedShare'
  | 'batchShare'
  | 'passingShare'
  | 'filteredShare'
  | 'cappedShare'
  | 'limitedShare';

const changes: readonly Change[] = [
  ...group('perMinute'),
  ...group('store'),
  ...group('network'),
  { what: 'the limits of the product', change: withoutLimits },
  ...(['nodes', 'events', 'subscriptions', 'receivers'] as const).flatMap((name) => [
    { what: `half the ${name}`, change: fewer(name, (count) => Math.ceil(count / 2)) },
    { what: `${name} less one`, change: fewer(name, (count) => count - 1) },
  ]),
  ...(
    [
      'orderedShare',
      'keyedShare',
      'batchShare',
      'passingShare',
      'filteredShare',
      'cappedShare',
      'limitedShare',
    ] as const
  ).map((name) => ({ what: `no ${name}`, change: withoutShare(name) })),
  { what: 'half the time', change: sooner },
];

function group(name: 'perMinute' | 'store' | 'network'): Change[] {
  const keys = {
    perMinute:
      'crash pause restart outage clockStep receiverDies unsubscribe subscribe edit redrive replay',
    store: 'failsBefore failsAfter stalls',
    network: 'refused lost hangs slow slowConnects failing asksForTime gone',
  };
  return keys[name].split(' ').map((key) => ({
    what: `no ${key}`,
    change: (plan) => {
      const rates: Record<string, number> = plan[name];
      return rates[key] === 0 ? undefined : { ...plan, [name]: { ...rates, [key]: 0 } };
    },
  }));
}

function withoutLimits(plan: Plan): Plan | undefined {
  return Object.keys(plan.limits).length === 0 ? undefined : { ...plan, limits: {} };
}

function fewer(name: Count, less: (count: number) => number): Change['change'] {
  return (plan) => {
    const count = less(plan[name]);
    return count < 1 || count === plan[name] ? undefined : { ...plan, [name]: count };
  };
}

function withoutShare(name: Share): Change['change'] {
  return (plan) => (plan[name] === 0 ? undefined : { ...plan, [name]: 0 });
}

function sooner(plan: Plan): Plan | undefined {
  const faultsMs = Math.ceil(plan.faultsMs / 2);
  return faultsMs < 1_000 ? undefined : { ...plan, faultsMs };
}

/** The settings of a plan that differ from the one that its seed draws. */
export function differences(plan: Plan, drawn: Plan): Partial<Plan> {
  const other = new Map(Object.entries(drawn));
  return Object.fromEntries(
    Object.entries(plan).filter(([name, value]) => {
      return JSON.stringify(value) !== JSON.stringify(other.get(name));
    }),
  );
}

/** Applies such differences, given as JSON. */
export function planWith(drawn: Plan, json: string): Plan {
  return { ...drawn, ...(JSON.parse(json) as Partial<Plan>) };
}
