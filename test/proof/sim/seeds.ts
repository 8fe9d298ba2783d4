// A program that runs its share of many seeds and prints one JSON line per message: `failed` for a run with a violation,
// `so-far` for progress, `all` at the end.
import { runBatch, type Sum } from './batch.ts';
import type { Run } from './run.ts';

export type Line =
  | { kind: 'failed'; run: Run }
  | { kind: 'so-far'; seeds: number }
  | { kind: 'all'; sum: Sum };

const everyMs = 10_000;
const [, , from, seeds, stride, patience] = process.argv;
let saidMs = performance.now();
const sum = await runBatch({
  from: Number(from),
  seeds: Number(seeds),
  stride: Number(stride),
  isPatient: patience === 'patient',
  onRun: (run, soFar) => {
    if (run.flaws.length > 0) say({ kind: 'failed', run });
    if (performance.now() - saidMs < everyMs) return;
    saidMs = performance.now();
    say({ kind: 'so-far', seeds: soFar.seeds });
  },
});
say({ kind: 'all', sum });

function say(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
