// Checks and serves each real document, then subscribes, publishes and unsubscribes. The verdict of `check` must
// match the service, and docs/openapi-coverage.md must show the results.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { before, describe, it } from 'node:test';
import { bounds } from '../../../src/contract/document/bounds.ts';
import { coverageTable } from '../../../tools/coverage-page.ts';
import { corpus, corpusFiles, noCorpus, withRunner } from './run-corpus.ts';
import type { DocumentResult } from './run-document.ts';

/** A step takes at most 50 ns, so all examples of a document take at most 0.3 s of 5 s for a check. */
const stepsMax = bounds.contractSampleStepsMax / 10;

const page = join(import.meta.dirname, '..', '..', '..', 'docs', 'openapi-coverage.md');

describe('the documents of the corpus', { skip: noCorpus }, () => {
  const files = corpusFiles();
  const results = new Map<string, DocumentResult>();
  before(async () => {
    await withRunner(corpus, async (run) => {
      for (const file of files) results.set(file, await run(file));
    });
  });

  for (const file of files) {
    it(relative(corpus, file), () => {
      const result = results.get(file);
      assert(result);
      const { check, serve, operations, steps } = result;
      assert.deepEqual(serve, { refusal: check.refusal, cannotRun: check.cannotRun });
      assert.equal(check.code, check.refusal === undefined && check.cannotRun.length === 0 ? 0 : 1);
      for (const { name, status, isUnable, callbacks, end, answers, why } of operations) {
        if (callbacks.length > 0) assert.ok(end, `${name}: its subscription did not end`);
        else assert.ok(isUnable || status === 422, `${name}: ${why}, which check does not report`);
        for (const { to, misfits, isNamed } of answers) {
          const what = `the response to ${to} of ${name} does not match the document, which check does not report`;
          assert.ok(isNamed || misfits.length === 0, `${what}: ${JSON.stringify(misfits)}`);
        }
      }
      assert.ok(steps <= stepsMax, `check spends ${steps} steps on examples`);
    });
  }

  it('are listed in docs/openapi-coverage.md with these results', () => {
    const measured = / [\d.]+ \|$/u;
    const shown = readFileSync(page, 'utf8')
      .split('\n')
      .map((line) => line.replace(measured, ''));
    const rows = coverageTable([...results.values()], []);
    for (const row of rows) assert.ok(shown.includes(row.replace(measured, '')), row);
  });
});
