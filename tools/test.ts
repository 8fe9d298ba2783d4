// `npm test`: all tests. Those of pure code run in one process that counts which lines they reach; all
// others beside it, a process each, three at a time, and those that take longest first: nothing is worse
// than to wait for one of them at the end. Files that fail while the machine is starved run
// again, alone; on any other machine a failure is a failure.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { setTimeout as startTimer } from 'node:timers';
import { readCpuTimes, stolenShare } from './stolen.ts';

const cwd = join(import.meta.dirname, '..');
const concurrency = 3;
const linesPercentMin = 95;
/** The longest takes a minute on a quiet machine. One that waits for ever must fail, not hold all others. */
const testMsMax = 10 * 60_000;
/**
 * For what no test can answer for, like a file that leaves a timer behind: nothing has ended for so long.
 * No limit for the whole: a starved machine has taken more than an hour, and was right.
 */
const silentMsMax = testMsMax + 2 * 60_000;
const againMax = 2;
/** Of the time that the machine wanted to compute. A quiet one loses 1 to 5 %, one that fails by it 40 to 90 %. */
const stolenShareMax = 0.15;
const pure = ['core', 'contract'];

/** By the computing that they need, 10 to 60 s each. The first ones do not mind company. */
const longest = [
  'test/store/differential.test.ts',
  'test/store/postgres.test.ts',
  'test/store/sqlite.test.ts',
  'test/contract/hostile-documents.test.ts',
  'test/browser/pages.test.ts',
  'test/e2e/cluster-chaos.test.ts',
  'test/cli/serve.test.ts',
  'test/engine/unsubscribe.test.ts',
  'test/e2e/callbacks.test.ts',
  'test/e2e/hostile.test.ts',
  'test/e2e/kill.test.ts',
  'test/e2e/cluster-commit.test.ts',
  'test/store/postgres-plans.test.ts',
  'test/browser/hostile.test.ts',
  'test/cli/key.test.ts',
];

/** As it was before the setup for all files told them where its database is. */
const env = { ...process.env };
const [part, ...chosen] = process.argv.slice(2);
if (part === 'again') {
  process.send?.(await runFiles(chosen, 1));
} else {
  const ends = [...(part === 'rest' ? [] : [runPure()]), ...(part === 'pure' ? [] : [runRest()])];
  const areGood = await Promise.all(ends);
  process.exitCode = areGood.every(Boolean) ? 0 : 1;
}

/**
 * In one process: reading the same source for each of 70 files took a third of the time. What it prints is
 * kept until it has ended, so that it does not stand between the lines of the others.
 */
async function runPure(): Promise<boolean> {
  const args = [
    '--test',
    '--test-isolation=none',
    '--experimental-test-coverage',
    '--test-coverage-exclude=**/*.test.ts',
    `--test-coverage-lines=${linesPercentMin}`,
    ...pure.map((folder) => `--test-coverage-include=src/${folder}/**/*.ts`),
    ...pure.map((folder) => `src/${folder}/**/*.test.ts`),
  ];
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const silence = startTimer(() => child.kill('SIGKILL'), silentMsMax); // Of a kinder one it may end well.
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

async function runRest(): Promise<boolean> {
  const found = globSync('{src,test}/**/*.test.ts', { cwd }).filter(
    (path) => !pure.some((folder) => path.startsWith(join('src', folder, '/'))),
  );
  const files = new Set([...longest.filter((path) => found.includes(path)), ...found.sort()]);
  let before = readCpuTimes();
  let failed = await runFiles([...files], concurrency);
  for (let time = 1; failed.length > 0 && time <= againMax; time += 1) {
    const stolen = stolenShare(before, readCpuTimes());
    if (stolen < stolenShareMax) break;
    const percent = Math.round(100 * stolen);
    console.log(
      `\n${percent} % of the computing time was taken from this machine, so what failed runs again, alone:\n` +
        failed.map((path) => `  ${path}\n`).join(''),
    );
    before = readCpuTimes();
    failed = await runAgain(failed);
  }
  return failed.length === 0;
}

/** In a process of its own, since the setup for all files runs once in each. */
async function runAgain(paths: readonly string[]): Promise<readonly string[]> {
  const args = [import.meta.filename, 'again', ...paths];
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let failed = paths;
  child.on('message', (left: readonly string[]) => (failed = left));
  await once(child, 'close');
  return failed;
}

/** Returns those that failed, or were never begun. */
async function runFiles(paths: readonly string[], atOnce: number): Promise<readonly string[]> {
  const silent = new AbortController();
  const silence = startTimer(() => silent.abort(), silentMsMax);
  const passed = new Set<string>();
  const failed = new Set<string>();
  const files = paths.map((path) => join(cwd, path));
  const options = {
    files,
    concurrency: atOnce,
    timeout: testMsMax,
    signal: silent.signal,
    globalSetupPath: join(cwd, 'test/postgres/global-setup.ts'), // The types do not know it.
  };
  const events = run(options);
  events.on('test:complete', () => silence.refresh());
  events.on('test:summary', ({ file, success }) => {
    if (file !== undefined && success) passed.add(file);
  });
  // A test may stand in a file that others import: `entryFile`, which the types do not know, is theirs.
  events.on('test:fail', ({ entryFile, file }: { entryFile?: string; file?: string }) => {
    failed.add(entryFile ?? file ?? '');
  });
  const report = events.compose(new spec());
  report.pipe(process.stdout);
  await finished(report);
  clearTimeout(silence);
  if (!failed.isSubsetOf(new Set(files))) return paths; // Something that stands in no file: nobody knows whose.
  return paths.filter((path) => !passed.has(join(cwd, path)) || failed.has(join(cwd, path)));
}
