// `npm run mutate`: mutation testing of the delivery code. Makes small mistakes in its source, one at
// a time, and counts how many of them its quick tests notice. Sampled by seed. Always exits with 0: a
// person decides what a surviving mutant means.
//   --only src/egress/http   one subject (test/proof/mutation/subjects.ts)
//   --sample 10              mutants of each subject
//   --seed 7                 another sample
//   --keep                   writes docs/proof/mutation.json, and the page that shows it
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { realWorld } from '../src/core/base/world.ts';
import { globalSetup, globalTeardown } from '../test/postgres/global-setup.ts';
import { changedSource } from '../test/proof/controls/change-source.ts';
import { mutantsOf, type Mutant } from '../test/proof/mutation/mutants.ts';
import { subjects, type Subject } from '../test/proof/mutation/subjects.ts';
import { verdictOn } from '../test/proof/mutation/verdicts.ts';
import { keepMutation, writePage } from '../test/proof/report/files.ts';
import { endGroupsWithUs, runGroup } from '../test/proof/report/group.ts';
import type { MutationRun, MutationScore, Survivor } from '../test/proof/report/mutation.ts';
import { checkout } from '../test/proof/report/place.ts';
import { seededChance } from '../test/proof/sim/chance.ts';

const world = realWorld();
const root = join(import.meta.dirname, '..');
const reporter = join(root, 'test', 'proof', 'mutation', 'first-failure.ts');
/**
 * Time limit relative to the tests of the unchanged source, since the machine may have become
 * busier.
 */
const slowerMax = 3;
const leastMs = 30_000;
/** Most tests wait for sockets and timers much of the time. */
const atOnce = 2;
/** A mutant often makes a test, and so the runner, wait forever. */
const testMsMax = 60_000;
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
});

const wanted = subjects.filter(({ name }) => (values.only ?? name) === name);
if (wanted.length === 0) {
  const names = subjects.map(({ name }) => `"${name}"`).join(', ');
  throw new Error(`Cannot mutate "${values.only}": expected --only with one of ${names}`);
}
endGroupsWithUs();
const source = checkout();
const folder = mkdtempSync(join(tmpdir(), 'ringback-mutants-'));
process.env['TMPDIR'] = folder; // Killed processes do not clean up.
await globalSetup();
try {
  const scores: MutationScore[] = [];
  for (const subject of wanted) scores.push(await score(subject));
  const run: MutationRun = {
    ...source,
    date: new Date(world.nowMs()).toISOString().slice(0, 10),
    seed: Number(values.seed),
    scores,
  };
  if (values.keep) {
    keepMutation(run);
    writePage();
  }
} finally {
  await globalTeardown();
  rmSync(folder, { recursive: true, force: true });
}

async function score(subject: Subject): Promise<MutationScore> {
  const { name, files, sample } = subject;
  const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
  const chosen = draw(all, Number(values.sample ?? sample));
  const limitsMs = await timeLimits(subject);
  const survived: Survivor[] = [];
  let equivalent = 0;
  await eachOf(chosen, async (mutant) => {
    const { file, line, from, to } = mutant;
    const verdict = verdictOn(mutant, readFileSync(join(root, file), 'utf8'));
    const isEquivalent = verdict?.kind === 'equivalent';
    const noticed = isEquivalent ? undefined : await noticedBy(subject, mutant, limitsMs);
    const end = isEquivalent ? 'equivalent' : noticed === undefined ? 'SURVIVED' : 'killed';
    say(`${end} ${file}:${line} ${from} → ${to} ${noticed ?? ''}`);
    if (isEquivalent) equivalent += 1;
    if (noticed === undefined) survived.push({ file, line, from, to, ...verdict });
  });
  survived.sort((one, other) => one.file.localeCompare(other.file) || one.line - other.line);
  const killed = chosen.length - survived.length;
  const mutants = all.length;
  say(`${name}: ${killed} of ${chosen.length - equivalent} killed; ${mutants} mutants in all`);
  return { name, mutants, tried: chosen.length, equivalent, killed, survived };
}

/** `atOnce` at a time. */
async function eachOf<T>(some: readonly T[], act: (one: T) => Promise<void>): Promise<void> {
  const left = some.values();
  const actInTurn = async (): Promise<void> => {
    for (const one of left) await act(one);
  };
  await Promise.all(Array.from({ length: atOnce }, actInTurn));
}

/** Of each group of tests, from a run with the unchanged source. */
async function timeLimits({ name, tests }: Subject): Promise<number[]> {
  const limitsMs: number[] = [];
  for (const some of tests) {
    const beganMs = world.monotonicMs();
    const failed = await failureOf(some, undefined, Infinity);
    if (failed !== undefined) {
      throw new Error(`The tests of ${name} fail without a mutant: ${failed}`);
    }
    limitsMs.push(Math.max(leastMs, slowerMax * (world.monotonicMs() - beganMs)));
  }
  return limitsMs;
}

async function noticedBy(
  { tests }: Subject,
  mutant: Mutant,
  limitsMs: readonly number[],
): Promise<string | undefined> {
  for (const [index, some] of tests.entries()) {
    const failed = await failureOf(some, mutant, limitsMs[index] ?? leastMs);
    if (failed !== undefined) return failed;
  }
  return undefined;
}

/** How the tests fail; undefined if they pass. */
async function failureOf(
  tests: readonly string[],
  mutant: Mutant | undefined,
  mostMs: number,
): Promise<string | undefined> {
  const { out, failed } = await runGroup({
    args: [
      '--test',
      '--test-isolation=none',
      `--test-timeout=${testMsMax}`,
      `--test-reporter=${reporter}`,
      ...globSync([...tests], { cwd: root }).sort(),
    ],
    mostMs: Math.min(mostMs, 2 ** 31 - 1),
    ...(mutant && { env: changedSource([mutant]) }),
  });
  return failed === undefined ? undefined : `${failed}: ${out.trim()}`;
}

function draw(all: readonly Mutant[], count: number): Mutant[] {
  const chance = seededChance(Number(values.seed));
  const left = [...all];
  const drawn = Array.from({ length: Math.min(count, all.length) }, () =>
    left.splice(chance.whole(0, left.length - 1), 1),
  );
  return drawn.flat();
}

function say(line: string): void {
  process.stdout.write(`${line.replaceAll(/\s+/g, ' ')}\n`);
}
