// A process of its own that simulates seed after seed until something is violated, and says what.
import { performance } from 'node:perf_hooks';
import { runSeed } from '../sim/run.ts';

const seedsMax = Number(process.argv[2] ?? 100);
const beganMs = performance.now();
let seed = 0;
let invariants: string[] = [];
while (seed < seedsMax && invariants.length === 0) {
  seed += 1;
  const { flaws } = await runSeed(seed);
  invariants = [...new Set(flaws.map(({ invariant }) => invariant))];
}
const tookMs = Math.round(performance.now() - beganMs);
process.stdout.write(JSON.stringify({ seed, seeds: seed, tookMs, invariants }));
