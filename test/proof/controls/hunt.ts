// A process of its own that simulates seed after seed until a promise is broken that its control breaks,
// and says which. What is broken besides says nothing about the judge of that promise.
import { performance } from 'node:perf_hooks';
import { runSeed } from '../sim/run.ts';
import { controls } from './controls.ts';

const [, , wanted, seedsMax = 100] = process.argv;
const control = controls.find(({ name }) => name === wanted);
const breaks = control?.breaks ?? [];
const beganMs = performance.now();
let seed = 0;
let caughtBy: string | undefined;
while (seed < Number(seedsMax) && caughtBy === undefined) {
  seed += 1;
  const { flaws } = await runSeed(seed);
  caughtBy = flaws.find(({ invariant }) => breaks.includes(invariant))?.invariant;
}
const tookMs = Math.round(performance.now() - beganMs);
process.stdout.write(JSON.stringify({ seed, tookMs, caughtBy }));
