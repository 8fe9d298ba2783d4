// Runs many seeds one after the other, and adds up their counters.
import { simulated, type Finding } from '../finding.ts';
import { addCounters, neverMet, noCounters, type Counters } from './counters.ts';
import { runSeed, type Run } from './run.ts';

export interface BatchOptions {
  from: number;
  seeds: number;
  /** Runs every n-th seed: other processes run the rest. */
  stride?: number;
  /** Called after every seed. */
  onRun?: (run: Run, sum: Sum) => void;
  /** Continues after a violation. */
  isPatient?: boolean;
}

export interface Sum {
  seeds: number;
  steps: number;
  simulatedMs: number;
  lost: number;
  counters: Counters;
  failed: Run[];
}

export const nothing: Readonly<Sum> = {
  seeds: 0,
  steps: 0,
  simulatedMs: 0,
  lost: 0,
  counters: noCounters,
  failed: [],
};

export async function runBatch(options: BatchOptions): Promise<Sum> {
  const { from, seeds, stride = 1, onRun, isPatient } = options;
  let sum: Sum = nothing;
  for (let seed = from; seed < from + seeds; seed += stride) {
    const run = await runSeed(seed);
    const { steps, simulatedMs, lost, counters, flaws } = run;
    const failed = flaws.length > 0 ? [run] : [];
    sum = added(sum, { seeds: 1, steps, simulatedMs, lost, counters, failed });
    onRun?.(run, sum);
    if (sum.failed.length > 0 && isPatient !== true) break;
  }
  return sum;
}

export function added(one: Sum, other: Sum): Sum {
  return {
    seeds: one.seeds + other.seeds,
    steps: one.steps + other.steps,
    simulatedMs: one.simulatedMs + other.simulatedMs,
    lost: one.lost + other.lost,
    counters: addCounters(one.counters, other.counters),
    failed: [...one.failed, ...other.failed],
  };
}

/** From this size on, a batch must have met every counted situation at least once. */
export const seedsForAll = 400;

export function findingOf(sum: Sum): Finding {
  const unmet = sum.seeds >= seedsForAll ? neverMet(sum.counters) : [];
  const { acknowledged, ...others } = sum.counters;
  return {
    part: simulated,
    figures: {
      seeds: sum.seeds,
      steps: sum.steps,
      simulatedHours: Math.round(sum.simulatedMs / 360_000) / 10,
      ...others,
    },
    violations: [
      ...sum.failed.flatMap(({ seed, flaws }) =>
        flaws.map(({ invariant, what }) => `${invariant}: seed ${seed}: ${what}`),
      ),
      ...unmet.map((name) => `the whole batch never met "${name}"`),
    ],
    events: { accepted: acknowledged, lost: sum.lost },
  };
}
