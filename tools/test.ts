// `npm test`: all tests. Those of pure code run in one process that counts which lines they reach; all
// others beside it, a process each, three at a time, and those that take longest first: nothing is worse
// than to wait for one of them at the end.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const cwd = join(import.meta.dirname, '..');
const concurrency = 3;
const linesPercentMin = 95;
/** The longest takes a minute on a quiet machine. One that waits for ever must fail, not hold all others. */
const testMsMax = 5 * 60_000;
/** For what no test can answer for, like a file that leaves a timer behind. A starved machine has taken half an hour. */
const allMsMax = 50 * 60_000;
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

const [part] = process.argv.slice(2);
const ends = [...(part === 'rest' ? [] : [runPure()]), ...(part === 'pure' ? [] : [runRest()])];
const areGood = await Promise.all(ends);
process.exitCode = areGood.every(Boolean) ? 0 : 1;

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
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: allMsMax,
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject).on('close', resolve);
  });
  process.stdout.write(Buffer.concat(chunks));
  return code === 0;
}

async function runRest(): Promise<boolean> {
  const found = globSync('{src,test}/**/*.test.ts', { cwd }).filter(
    (path) => !pure.some((folder) => path.startsWith(join('src', folder, '/'))),
  );
  const files = new Set([...longest.filter((path) => found.includes(path)), ...found.sort()]);
  let isGood = true;
  const globalSetupPath = join(cwd, 'test/postgres/global-setup.ts');
  const paths = [...files].map((path) => join(cwd, path));
  const signal = AbortSignal.timeout(allMsMax);
  const options = { files: paths, concurrency, timeout: testMsMax, signal, globalSetupPath }; // The types do not know the last one.
  const events = run(options);
  events.on('test:fail', () => (isGood = false));
  const report = events.compose(new spec());
  report.pipe(process.stdout);
  await finished(report);
  return isGood;
}
