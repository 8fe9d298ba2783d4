// `npm run sim -- --seeds N [--from S] [--seed S] [--controls]`: the deterministic simulation. One seed is
// one run; the same seed goes the same way. Ends with 1 when anything was violated.
// What is simulated, and what is not, stands in test/proof/sim/README.md.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realWorld } from '../src/core/world.ts';
import { runControls } from '../test/proof/controls/run-controls.ts';
import { findingOf, runBatch, type Sum } from '../test/proof/sim/batch.ts';
import type { Run } from '../test/proof/sim/run.ts';

const progressMs = 10_000;
const linesMax = 20;
const world = realWorld();
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    controls: { type: 'boolean', default: false },
    /** Goes on after a violation. */
    all: { type: 'boolean', default: false },
  },
});

process.exitCode = await (values.controls ? breakOnPurpose() : simulate());

async function simulate(): Promise<number> {
  const from = Number(values.seed ?? values.from);
  const seeds = values.seed === undefined ? Number(values.seeds) : 1;
  const beganMs = world.monotonicMs();
  let saidMs = beganMs;
  const rate = (sum: Sum): string =>
    ((sum.seeds * 1000) / (world.monotonicMs() - beganMs)).toFixed(1);
  const sum = await runBatch({
    from,
    seeds,
    isPatient: values.all,
    onRun: (run, so) => {
      if (run.flaws.length > 0) report(run);
      if (seeds === 1) say(`${'print'.padEnd(22)} ${run.print}`);
      if (world.monotonicMs() - saidMs < progressMs) return;
      saidMs = world.monotonicMs();
      say(`${so.seeds} of ${seeds} seeds, ${rate(so)} seeds/s, ${so.failed.length} failed`);
    },
  });
  const { figures, violations } = findingOf(sum);
  for (const [name, figure] of Object.entries(figures)) say(`${name.padEnd(22)} ${figure}`);
  say(`${'seeds/s'.padEnd(22)} ${rate(sum)}`);
  say(violations.length === 0 ? 'No violation.' : violations.slice(0, linesMax).join('\n'));
  return violations.length === 0 ? 0 : 1;
}

function report({ seed, flaws, lines, print }: Run): void {
  say(`\nVIOLATION at seed ${seed}, commit ${commit()}, print ${print}`);
  for (const { invariant, what } of flaws.slice(0, linesMax)) say(`  ${invariant}: ${what}`);
  say(`The last ${lines.length} steps (ms since the start, then what happened):`);
  for (const line of lines) say(`  ${line}`);
  say(`Replay with: npm run sim -- --seed ${seed}\n`);
}

async function breakOnPurpose(): Promise<number> {
  const results = await runControls({
    onResult: ({ name, caughtBy, seed, tookMs }) =>
      say(
        caughtBy === undefined
          ? `${name.padEnd(28)} NOT CAUGHT`
          : `${name.padEnd(28)} ${caughtBy} at seed ${seed} after ${(tookMs / 1000).toFixed(1)} s`,
      ),
  });
  const missed = results.filter(({ caughtBy }) => caughtBy === undefined);
  say(`${results.length - missed.length} of ${results.length} controls caught.`);
  return missed.length === 0 ? 0 : 1;
}

function commit(): string {
  const cwd = join(import.meta.dirname, '..');
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
