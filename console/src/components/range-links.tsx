// Time range choices as links, so that the address contains the range.
import './range-links.css';
import type { JSX } from 'preact';
import { hrefWith, param } from '../router.ts';

export const ranges = ['15m', '1h', '24h', '7d'] as const;
export type Range = (typeof ranges)[number];

const words: Readonly<Record<Range, string>> = {
  '15m': '15 minutes',
  '1h': '1 hour',
  '24h': '24 hours',
  '7d': '7 days',
};

export function chosenRange(): Range {
  return ranges.find((one) => one === param('range')) ?? '1h';
}

/** `the last 24 hours` */
export function rangeLabel(range: Range): string {
  return `the last ${words[range].replace(/^1 /u, '')}`;
}

export function RangeLinks(): JSX.Element {
  const chosen = chosenRange();
  return (
    <nav class="ranges" aria-label="Time range">
      {ranges.map((range) => (
        <a
          key={range}
          href={hrefWith({ range: range === '1h' ? undefined : range })}
          aria-current={range === chosen ? 'true' : undefined}
          title={words[range]}
        >
          {range.replace(/(?=[a-z])/u, ' ').replace('m', 'min')}
        </a>
      ))}
    </nav>
  );
}
