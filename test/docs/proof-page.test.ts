import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pageOfFiles, pagePath } from '../proof/report/files.ts';
import { found } from '../proof/report/found.ts';
import { failuresOf, proofPage, type ProofRun } from '../proof/report/page.ts';

const root = join(import.meta.dirname, '..', '..');
const run: ProofRun = {
  commit: 'abc1234',
  isChanged: false,
  date: '2026-11-16',
  machine: '2 cores',
  seed: 1,
  tookMs: 61_000,
  parts: [
    {
      name: 'power',
      about: 'Cuts the power.',
      tookMs: 5_000,
      findings: [
        {
          part: 'one | two',
          figures: { images: 12_345, longestHoldMs: 1_200, 'RSS, MiB': 7, SIGKILL: 3 },
          violations: [],
          events: { accepted: 10, lost: 0 },
        },
        { part: 'no disk', figures: {}, violations: [], skipped: 'no compiler' },
      ],
    },
  ],
  controls: [{ part: 'power', name: 'lazy', seen: 'I1: lost in /tmp/x/y', tookMs: 1_234 }],
};

describe('docs/proof.md', () => {
  it('is made from the figures that are kept', (t) => {
    if (!existsSync(pagePath)) {
      t.skip('npm run proof has not been run yet');
      return;
    }
    assert.equal(readFileSync(pagePath, 'utf8'), pageOfFiles());
  });

  it('names tests that there are', () => {
    for (const { what, test } of found) assert.ok(existsSync(join(root, test)), `${what} ${test}`);
  });

  it('shows figures, what was skipped and what was seen, and no path of a machine', () => {
    const page = proofPage(run, undefined);
    assert.match(
      page,
      /one \\\| two \| acknowledged 10, lost 0; images 12,345; longest hold 1,200 ms; RSS, MiB 7; SIGKILL 3 \| 0 \|/,
    );
    assert.match(page, /not tried here: no compiler/);
    assert.match(page, /\| lazy \| power \| I1: lost in … \| 1\.2 s \|/);
    assert.match(page, /\*\*1 of 1\*\*/);
  });

  it('shows what failed: a broken promise, a control that nobody noticed', () => {
    const broken: ProofRun = {
      ...run,
      parts: run.parts.map((part) => ({
        ...part,
        findings: [{ part: 'x', figures: {}, violations: ['I1: lost'] }],
      })),
      controls: [{ part: 'power', name: 'lazy', seen: undefined, tookMs: 1 }],
    };
    assert.deepEqual(failuresOf(broken), [
      'power, x: I1: lost',
      'power: nobody noticed the control "lazy"',
    ]);
    assert.match(proofPage(broken, undefined), /## Violations\n\n- power, x: I1: lost/);
    assert.deepEqual(failuresOf(run), []);
  });
});
