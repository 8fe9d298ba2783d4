import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pageOfFiles, pagePath } from '../proof/report/files.ts';
import { found } from '../proof/report/found.ts';
import { runLookControl, type LookControl } from '../proof/controls/run-controls.ts';
import type { Finding } from '../proof/finding.ts';
import { assemble } from '../proof/report/assemble.ts';
import { resultOf, type Job } from '../proof/report/job.ts';
import {
  caughtOf,
  failuresOf,
  proofPage,
  skippedOf,
  type LongRun,
  type ProofRun,
} from '../proof/report/page.ts';
import { withoutFolders } from '../proof/report/place.ts';

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
  controls: [
    { part: 'power', name: 'lazy', seen: 'I1: lost in /tmp/x/y', tookMs: 1_234 },
    { part: 'power', name: 'rushed', seen: undefined, tookMs: 5, skipped: 'no network' },
  ],
};
const simulation: Finding = {
  part: 'simulation',
  figures: { seeds: 20_000 },
  violations: [],
  events: { accepted: 5_000, lost: 0 },
};
const longRun: LongRun = {
  commit: 'def5678',
  date: '2026-11-15',
  from: 1_000_001,
  finding: simulation,
};

describe('docs/proof.md', () => {
  it('is generated from the stored figures', (t) => {
    if (!existsSync(pagePath)) {
      t.skip('npm run proof has not been run yet');
      return;
    }
    assert.equal(readFileSync(pagePath, 'utf8'), pageOfFiles());
  });

  it('names only existing tests', () => {
    for (const { what, test } of found) assert.ok(existsSync(join(root, test)), `${what} ${test}`);
  });

  it('shows figures, skipped parts and detected violations, and no path of the machine', () => {
    const page = proofPage(run, undefined);
    assert.match(
      page,
      /one \\\| two \| acknowledged 10, lost 0; images 12,345; longest hold 1,200 ms; RSS, MiB 7; SIGKILL 3 \| 0 \|/,
    );
    assert.match(page, /\| lazy \| power \| I1: lost in … \| 1\.2 s \|/);
    assert.match(page, /\| no disk \| not tried here: no compiler \| 0 \|/);
    assert.match(page, /\| rushed \| power \| not tried here: no network \|/);
  });

  it('shows failures: a violation, and a control that was not detected', () => {
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
      'power: control "lazy" was not detected',
    ]);
    assert.match(proofPage(broken, undefined), /## Violations\n\n- power, x: I1: lost/);
    assert.deepEqual(failuresOf(run), []);
  });

  it('counts skipped parts separately, neither as tried nor as caught', () => {
    const page = proofPage(run, undefined);
    assert.match(page, /on purpose, in 1 ways/);
    assert.match(page, /\| controls caught \| \*\*1 of 1\*\* \|/);
    assert.match(page, /\| skipped \| 1 finding, 1 control \|/);
    assert.deepEqual(caughtOf(run), { caught: 1, tried: 1 });
    assert.deepEqual(
      skippedOf(run).map(({ part, name, why }) => `${part}, ${name}: ${why}`),
      ['power, no disk: no compiler', 'power, rushed: no network'],
    );
  });

  it('includes the violations of the longer simulation, and counts its events separately', () => {
    const page = proofPage(run, longRun);
    assert.match(page, /\| acknowledged events, real processes \| 10, of these lost: \*\*0\*\* \|/);
    assert.match(page, /\| acknowledged events, simulated \| 5,000, of these lost: \*\*0\*\* \|/);
    assert.match(page, /Seeds 1000001 to 1020000, .*commit `def5678`: /);
    const flawed = { ...simulation, violations: ['I1: seed 7: lost'] };
    const broken: LongRun = { ...longRun, isChanged: true, finding: flawed };
    assert.deepEqual(failuresOf(run, broken), ['the longer simulation: I1: seed 7: lost']);
    assert.match(proofPage(run, broken), /\| violations \| \*\*1\*\* \|/);
    assert.match(proofPage(run, broken), /`def5678`, with changes that are not committed: /);
  });
});

const lazy: LookControl = {
  name: 'lazy',
  changes: [],
  breaks: /^I1/,
  look: async () => ({ part: 'x', figures: {}, violations: ['I1: lost'] }),
};
const part = { name: 'power', about: '', prove: async () => [] };
const jobs: readonly Job[] = [
  { entry: { part, controls: [lazy] }, breaks: false },
  { entry: { part, controls: [lazy] }, breaks: true },
];
const well = { findings: [{ part: 'x', figures: {}, violations: [] }], controls: [], tookMs: 1 };
const failures = (broken: Parameters<typeof assemble>[1][number]): string[] =>
  failuresOf({ ...run, ...assemble(jobs, [well, broken]) });

describe('withoutFolders', () => {
  it('shortens paths of the checkout, and removes others', () => {
    const seen =
      'at a (/home/me/x/node_modules/pg/lib/client.js:1:2) file:///tmp/p/main/src/a.ts:3';
    assert.equal(withoutFolders(seen), 'at a (node_modules/pg/lib/client.js:1:2) src/a.ts:3');
    assert.equal(withoutFolders('no /tmp/x/y, see "/v1/events"'), 'no … see "/v1/events"');
  });

  it('was applied to all stored results', () => {
    for (const name of ['run.json', 'long-run.json']) {
      const path = join(root, 'docs', 'proof', name);
      if (!existsSync(path)) continue;
      const kept = readFileSync(path, 'utf8');
      assert.equal(withoutFolders(kept), kept, name);
    }
  });
});

describe('assemble', () => {
  it('accepts detected controls', () => {
    const controls = [{ name: 'lazy', seen: 'I1: lost', tookMs: 1 }];
    assert.deepEqual(failures({ findings: [], controls, tookMs: 1 }), []);
  });

  it('fails if the job of controls died, or wrote no result', () => {
    const unnoticed = 'power: control "lazy" was not detected: no result';
    const name = 'power, broken on purpose';
    const died = resultOf(name, { out: '', failed: 'ended with SIGKILL' });
    assert.deepEqual(failures({ ...died, tookMs: 1 }), [
      `${name}, ${name}: ended with SIGKILL`,
      unnoticed,
    ]);
    const [odd] = failures({ ...resultOf(name, { out: '{', failed: undefined }), tookMs: 1 });
    assert.match(odd ?? '', /wrote an invalid result/);
  });

  it('fails if a control, a job or a finding is missing', () => {
    const unnoticed = 'power: control "lazy" was not detected: no result';
    assert.deepEqual(failures({ findings: [], controls: [], tookMs: 1 }), [unnoticed]);
    assert.deepEqual(failures(undefined), [unnoticed]);
    const nothing = assemble(jobs.slice(0, 1), [{ ...well, findings: [] }]);
    assert.deepEqual(failuresOf({ ...run, ...nothing }), ['power: no result']);
  });
});

describe('runLookControl', () => {
  const resultFor = async (look: LookControl['look']): Promise<unknown> => {
    const { tookMs: _, ...result } = await runLookControl({ ...lazy, look });
    return result;
  };

  it('reports a control that throws as not detected, with its error', async () => {
    const thrown = await resultFor(async () => Promise.reject(new Error('no port')));
    assert.deepEqual(thrown, { name: 'lazy', seen: undefined, failed: 'Error: no port' });
    const controls = [{ name: 'lazy', seen: undefined, failed: 'Error: no port', tookMs: 1 }];
    assert.deepEqual(failures({ findings: [], controls, tookMs: 1 }), [
      'power: control "lazy" was not detected: Error: no port',
    ]);
  });

  it('accepts a detected violation if only some of the part was skipped', async () => {
    const half = { part: 'x', figures: {}, skipped: 'no corpus' };
    const seen = await resultFor(async () => ({ ...half, violations: ['I1: lost'] }));
    assert.deepEqual(seen, { name: 'lazy', seen: 'I1: lost' });
    const unseen = await resultFor(async () => ({ ...half, violations: ['I2: twice'] }));
    assert.deepEqual(unseen, { name: 'lazy', seen: undefined, skipped: 'no corpus' });
  });
});
