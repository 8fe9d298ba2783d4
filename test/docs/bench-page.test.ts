import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { barChart } from '../../bench/report/chart.ts';
import { pagePath, pagesOfFiles } from '../../bench/report/files.ts';
import { benchPage, type BenchRun } from '../../bench/report/page.ts';

const exactly = (median: number): { median: number; low: number; high: number } => ({
  median,
  low: median,
  high: median,
});

const run: BenchRun = {
  commit: 'abc1234',
  isChanged: false,
  date: '2026-11-16',
  machine: '2 cores, 24 GiB',
  rounds: 5,
  tookMs: 600_000,
  scenarios: [
    {
      name: 'one-to-one',
      title: 'One to one',
      about: 'Events.',
      outcome: {
        rows: [
          {
            name: 'Ringback',
            cells: [{ column: 'events/s', value: { median: 5_000, low: 4_000, high: 6_000 } }],
          },
        ],
        checks: [
          { what: 'of the limit', value: exactly(0.6), bound: { atLeast: 0.55 }, aim: 0.7 },
          { what: 'memory, MiB', value: exactly(500), bound: { atMost: 400 } },
        ],
        skipped: ['BullMQ: there is no Redis'],
      },
    },
  ],
};

describe('docs/benchmarks.md', () => {
  it('and its chart are generated from the stored figures', (t) => {
    if (!existsSync(pagePath)) {
      t.skip('npm run bench has not been run yet');
      return;
    }
    for (const [path, text] of pagesOfFiles()) assert.equal(readFileSync(path, 'utf8'), text, path);
  });

  it('shows bounds that were met and missed, and scenarios that were not measured', () => {
    const page = benchPage(run);
    assert.match(page, /\| bounds held \| \*\*1 of 2\*\* \|/);
    assert.match(page, /\| Ringback \| 5,000 \(4,000 to 6,000\) \|/);
    assert.match(page, /\| of the limit \| 0\.6 \| at least 0\.55, aim 0\.7 \| held \|/);
    assert.match(page, /\| memory, MiB \| 500 \| at most 400 \| \*\*not held\*\* \|/);
    assert.match(page, /- Not measured: BullMQ/);
  });

  it('draws bars in proportion to their values', () => {
    const bar = { low: 1, high: 100, isOurs: true };
    const svg = barChart('a & b', [
      { ...bar, name: 'all', value: 100 },
      { ...bar, name: 'half', value: 50 },
    ]);
    const widths = [...svg.matchAll(/<rect [^>]*width="(\d+)"/g)].map(([, width]) => Number(width));
    assert.equal(widths[0], (widths[1] ?? 0) * 2);
    assert.match(svg, /aria-label="a &amp; b"/);
  });
});
