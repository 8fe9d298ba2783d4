// The reading order is true: each file of the list exists, and each function that it names runs
// between a publish and the commit of its callback's outcome. V8 counts the calls.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Session, type Profiler } from 'node:inspector/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { start } from '../api/harness.ts';
import { receive } from '../e2e/receiver.ts';
import { publish, subscribe } from '../e2e/stage.ts';

const root = join(import.meta.dirname, '..', '..');
const page = 'docs/reading-order.md';
const filesMax = 15;
/**
 * With a data folder these run on the store's write thread, where this test could not see them. The
 * store in memory is the same code without threads, so here they run on the main thread.
 */
const inWriteThread = [
  'src/store/sqlite/batch/write.ts',
  'src/store/sqlite/publish/publish.ts',
  'src/store/sqlite/deliver/settle.ts',
];

interface Row {
  path: string;
  functions: readonly string[];
}

const rows = rowsOf(readFileSync(join(root, page), 'utf8'));

/** Rows `| 1 | [`path`](link) | `name()`, `name()` | what |`. */
function rowsOf(text: string): Row[] {
  const found = text.matchAll(/^\| \d+ \| \[`([^`]+)`\]\([^)]+\) \| ([^|]+) \|/gm);
  return [...found].map(([, path = '', cell = '']) => ({
    path,
    functions: [...cell.matchAll(/`(#?\w+)\(\)`/g)].map(([, name = '']) => name),
  }));
}

type Coverage = readonly Profiler.ScriptCoverage[];

/** The coverage of a service's start, and of one publish up to the commit of its outcome. */
interface Measured {
  atStart: Coverage;
  ofPublish: Coverage;
}

async function measure(): Promise<Measured> {
  const session = new Session();
  session.connect();
  const take = async (): Promise<Coverage> =>
    (await session.post('Profiler.takePreciseCoverage')).result; // It also resets the counts.
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    const settled = Promise.withResolvers<void>();
    const hear = (line: string): void => {
      if (line.includes('"msg":"delivery delivered"')) settled.resolve(); // Written after the commit.
    };
    await using receiver = await receive();
    await using service = await start({ hear });
    await subscribe(service, receiver.url);
    const atStart = await take();
    await publish(service, 'order.created');
    await receiver.waitFor(1);
    await settled.promise;
    return { atStart, ofPublish: await take() };
  } finally {
    session.disconnect();
  }
}

function functionsIn(coverage: Coverage, path: string): readonly Profiler.FunctionCoverage[] {
  const url = pathToFileURL(join(root, path)).href;
  return coverage.filter((script) => script.url === url).flatMap(({ functions }) => functions);
}

/** Functions that were called; loading the file does not count. */
function calledIn(coverage: Coverage, path: string): readonly Profiler.CoverageRange[] {
  return functionsIn(coverage, path)
    .flatMap(({ ranges }) => ranges.slice(0, 1))
    .filter(({ startOffset, count }) => startOffset > 0 && count > 0);
}

/** A function that prepares others counts as called when one of them is. */
function notCalled({ atStart, ofPublish }: Measured, { path, functions }: Row): string[] {
  const called = calledIn(ofPublish, path);
  if (called.length === 0) return [`${path}: no function was called`];
  const all = [...functionsIn(atStart, path), ...functionsIn(ofPublish, path)];
  return functions
    .filter((name) => {
      const places = all.filter(({ functionName }) => functionName === name);
      return !places.some(({ ranges: [outer] }) =>
        called.some(
          ({ startOffset, endOffset }) =>
            outer !== undefined && startOffset >= outer.startOffset && endOffset <= outer.endOffset,
        ),
      );
    })
    .map((name) => `${path}: ${name}() was not called`);
}

describe(page, () => {
  it(`lists at most ${filesMax} files, each of which exists`, () => {
    assert.ok(rows.length > 0 && rows.length <= filesMax, `it lists ${rows.length} files`);
    const missing = rows.filter(({ path }) => !existsSync(join(root, path)));
    assert.deepEqual(missing, []);
  });

  it('names a function of each file', () => {
    assert.deepEqual(
      rows.filter(({ functions }) => functions.length === 0),
      [],
    );
  });
});

describe('one publish, up to the commit of its outcome', () => {
  let measured: Measured;
  before(async () => {
    measured = await measure();
  });
  const missed = (some: readonly Row[]): string[] =>
    some.flatMap((row) => notCalled(measured, row));

  it('calls the listed functions of the main thread', () => {
    assert.deepEqual(missed(rows.filter(({ path }) => !inWriteThread.includes(path))), []);
  });

  it('calls the listed functions of the write thread', () => {
    const some = rows.filter(({ path }) => inWriteThread.includes(path));
    assert.equal(some.length, inWriteThread.length);
    assert.deepEqual(missed(some), []);
  });

  it('would miss a file that has no part in it', () => {
    const row = { path: 'src/engine/upkeep/replayer.ts', functions: ['wake'] };
    assert.equal(missed([row]).length, 1);
  });
});
