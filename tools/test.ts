// `npm test`: all tests. Those of pure code run in one process that measures line coverage,
// followed by those that can share a process; all others run beside them, a process each, three at
// a time, the longest first, so that none of them is left at the end. If the machine was starved of
// CPU, files that failed run again, alone; otherwise a failure is a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as startTimer } from 'node:timers';
import { globalSetup, globalTeardown } from '../test/postgres/global-setup.ts';
import { readCpuTimes, stolenShare } from './stolen.ts';

const cwd = join(import.meta.dirname, '..');
const concurrency = 3;
const linesPercentMin = 95;
/**
 * The longest test takes a minute on a quiet machine. A hanging test must fail, not block the
 * others.
 */
const testMsMax = 10 * 60_000;
/**
 * Catches hangs outside of tests, such as a file that leaves a timer: no test has ended for this
 * long. There is no limit for the whole run, which on a starved machine may take over an hour.
 */
const silentMsMax = testMsMax + 2 * 60_000;
const againMax = 2;
const slowestShown = 30;
/**
 * The share of CPU time stolen by the hypervisor. A quiet machine loses 1 to 5 %, one that fails
 * because of it 40 to 90 %.
 */
const stolenShareMax = 0.15;
/** Pure code, which must reach a line coverage of 95 %. */
const pure = ['src/core', 'src/contract'];
/** What `npm run quick` runs. */
const quick = [...pure, 'test/architecture'];
/**
 * Folders whose files share a process, because half of their time is process start and compilation.
 * On 2 cores this saved 25 of 37 s of CPU for the first, 57 of 113 for the second, and 27 of 72 for
 * the third.
 */
const together = [
  ['src', 'test/console'],
  ['test/api'],
  ['test/engine', 'test/client', 'test/gateway'],
];

/** By duration: 10 to 90 s each, some of it waiting. The first ones tolerate load. */
const longest = [
  'test/store/differential.test.ts',
  'test/store/postgres.test.ts',
  'test/store/sqlite.test.ts',
  'test/contract/hostile-documents.test.ts',
  'test/browser/pages.test.ts',
  'test/e2e/cluster-chaos.test.ts',
  'test/docs/guide.test.ts',
  'test/e2e/hostile.test.ts',
  'test/examples/languages.test.ts',
  'test/proof/sim/sim.test.ts',
  'test/fast-path-off.test.ts',
  'test/e2e/cluster-roles.test.ts',
  'test/cli/serve.test.ts',
  'test/e2e/kill.test.ts',
  'test/proof/exchanges/exchanges.test.ts',
  'test/e2e/callbacks.test.ts',
  'test/e2e/cluster-commit.test.ts',
  'test/store/postgres-plans.test.ts',
  'test/browser/hostile.test.ts',
  'test/cli/key.test.ts',
];

/** An overloaded machine is no outage of the store. Tests of the time limit set their own. */
process.env['RINGBACK_STORE_TIMEOUT'] = '60s';

const [part] = process.argv.slice(2);
if (part === 'quick') {
  process.env['QUICK'] = '1';
  process.exitCode = (await runInOne(testsIn(quick))) ? 0 : 1;
} else {
  const isPureGood = part === 'rest' ? Promise.resolve(true) : runPure();
  const isRestGood = part === 'pure' ? true : runWithSetup(async () => runRest(isPureGood));
  process.exitCode = (await Promise.all([isPureGood, isRestGood])).every(Boolean) ? 0 : 1;
}

async function runPure(): Promise<boolean> {
  return runInOne([
    '--experimental-test-coverage',
    '--test-coverage-exclude=**/*.test.ts',
    `--test-coverage-lines=${linesPercentMin}`,
    ...pure.map((folder) => `--test-coverage-include=${folder}/**/*.ts`),
    ...testsIn(pure),
  ]);
}

async function runWithSetup(tests: () => Promise<boolean>): Promise<boolean> {
  await globalSetup();
  try {
    return await tests();
  } finally {
    await globalTeardown();
  }
}

/** The shared processes run after the pure ones, in their lane. */
async function runRest(isPureDone: Promise<unknown>): Promise<boolean> {
  const isPure = new Set(testsIn(pure));
  const groups = together.map((folders) => testsIn(folders).filter((path) => !isPure.has(path)));
  const isShared = new Set(groups.flat());
  const apart = testsIn(['src', 'test']).filter((path) => !isPure.has(path) && !isShared.has(path));
  const files = new Set([...longest.filter((path) => apart.includes(path)), ...apart]);
  let before = readCpuTimes();
  const ends = [runFiles([...files], concurrency), isPureDone.then(async () => runGroups(groups))];
  let failed: readonly string[] = (await Promise.all(ends)).flat();
  for (let time = 1; failed.length > 0 && time <= againMax; time += 1) {
    const stolen = stolenShare(before, readCpuTimes());
    if (stolen < stolenShareMax) break;
    const percent = Math.round(100 * stolen);
    console.log(
      `\n${percent} % of the computing time was taken from this machine, so what failed runs again, alone:\n` +
        failed.map((path) => `  ${path}\n`).join(''),
    );
    before = readCpuTimes();
    failed = await runFiles(failed, 1);
  }
  return failed.length === 0;
}

function testsIn(folders: readonly string[]): string[] {
  return globSync(
    folders.map((folder) => `${folder}/**/*.test.ts`),
    { cwd },
  ).sort();
}

/** Serially. Returns the files of groups that failed. */
async function runGroups(groups: readonly string[][]): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const paths of groups) if (!(await runInOne(paths))) failed.push(...paths);
  return failed;
}

/** Buffers the output until the end, so that it does not mix with that of the others. */
async function runInOne(args: readonly string[]): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ['--test', '--test-isolation=none', `--test-timeout=${testMsMax}`, ...args],
    { cwd, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const silence = startTimer(() => child.kill('SIGKILL'), silentMsMax); // SIGTERM might let it exit with success.
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => {
    silence.refresh();
    chunks.push(chunk);
  });
  await once(child, 'close');
  clearTimeout(silence);
  process.stdout.write(Buffer.concat(chunks));
  return child.exitCode === 0;
}

/** Returns files that failed or never started. */
async function runFiles(paths: readonly string[], atOnce: number): Promise<readonly string[]> {
  const silent = new AbortController();
  const silence = startTimer(() => silent.abort(), silentMsMax);
  const passed = new Set<string>();
  const failed = new Set<string>();
  const files = paths.map((path) => join(cwd, path));
  const events = run({ files, concurrency: atOnce, timeout: testMsMax, signal: silent.signal });
  events.on('test:complete', () => silence.refresh());
  const tookMs = new Map<string, number>();
  events.on('test:summary', ({ file, success, duration_ms: ms }) => {
    if (file === undefined) return;
    tookMs.set(file, ms);
    if (success) passed.add(file);
  });
  // A test may be defined in an imported file: `entryFile`, which is missing in the types, is the
  // importing one.
  events.on('test:fail', ({ entryFile, file }: { entryFile?: string; file?: string }) => {
    failed.add(entryFile ?? file ?? '');
  });
  const report = events.compose(new spec());
  report.pipe(process.stdout);
  await finished(report);
  clearTimeout(silence);
  printSlowest(tookMs);
  if (!failed.isSubsetOf(new Set(files))) return paths; // A failure outside of any file: it may be due to any of them.
  return paths.filter((path) => !passed.has(join(cwd, path)) || failed.has(join(cwd, path)));
}

/** For the list of the longest: what ran last, or takes most of the time. */
function printSlowest(tookMs: ReadonlyMap<string, number>): void {
  const slowest = [...tookMs].sort(([, a], [, b]) => b - a).slice(0, slowestShown);
  const lines = slowest.map(
    ([file, ms]) => `  ${String(Math.round(ms / 1000)).padStart(4)} s  ${relative(cwd, file)}\n`,
  );
  process.stdout.write(`\nThe slowest files:\n${lines.join('')}`);
}
