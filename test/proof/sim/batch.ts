// Many seeds, one after the other, and what they met in all.
import type { Finding } from '../finding.ts';
import { addCounters, neverMet, noCounters, type Counters } from './counters.ts';
import { runSeed, type Run } from './run.ts';

export interface BatchOptions {
  from: number;
  seeds: number;
  /** Told after every seed. */
  onRun?: (run: Run, sum: Sum) => void;
  /** Goes on after a violation. */
  isPatient?: boolean;
}

export interface Sum {
  seeds: number;
  steps: number;
  simulatedMs: number;
  counters: Counters;
  failed: Run[];
}

export async function runBatch({ from, seeds, onRun, isPatient }: BatchOptions): Promise<Sum> {
  const sum: Sum = {
    seeds: 0,
    steps: 0,
    simulatedMs: 0,
    counters: { ...noCounters },
    failed: [],
  };
  for (let seed = from; seed < from + seeds; seed += 1) {
    const run = await runSeed(seed);
    sum.seeds += 1;
    sum.steps += run.steps;
    sum.simulatedMs += run.simulatedMs;
    addCounters(sum.counters, run.counters);
    if (run.flaws.length > 0) sum.failed.push(run);
    onRun?.(run, sum);
    if (sum.failed.length > 0 && isPatient !== true) break;
  }
  return sum;
}

/** A batch of a few hundred seeds that never met something proves nothing about it. */
export const seedsForAll = 200;

export function findingOf(sum: Sum): Finding {
  const unmet = sum.seeds >= seedsForAll ? neverMet(sum.counters) : [];
  return {
    part: 'simulation',
    figures: {
      seeds: sum.seeds,
      steps: sum.steps,
      simulatedHours: Math.round(sum.simulatedMs / 360_000) / 10,
      ...sum.counters,
    },
    violations: [
      ...sum.failed.flatMap(({ seed, flaws }) =>
        flaws.map(({ invariant, what }) => `seed ${seed}: ${invariant}: ${what}`),
      ),
      ...unmet.map((name) => `the whole batch never met "${name}"`),
    ],
  };
}
