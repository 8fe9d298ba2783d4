// A small chart over time with two stacked series: good below, failed above.
import './charts.css';
import type { JSX } from 'preact';

const width = 96;
const height = 24;

export function Sparkline({
  good,
  bad,
  label,
}: {
  readonly good: readonly number[];
  readonly bad: readonly number[];
  /** What it shows, with the numbers in words. */
  readonly label: string;
}): JSX.Element {
  const top = Math.max(1, ...good.map((value, at) => value + (bad[at] ?? 0)));
  const step = width / Math.max(1, good.length);
  const heightOf = (value: number): number =>
    value === 0 ? 0 : Math.max(1.5, (value / top) * (height - 1));
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`}>
      <path class="spark-ground" d={`M0 ${height - 0.5}H${width}`} />
      {good.map((value, at) => {
        const goodHeight = heightOf(value);
        const badHeight = heightOf(bad[at] ?? 0);
        const place = { x: at * step, width: Math.max(0.5, step - 0.7) };
        return (
          <g key={at}>
            <rect class="fill-good" {...place} y={height - goodHeight} height={goodHeight} />
            <rect
              class="fill-bad"
              {...place}
              y={height - goodHeight - badHeight}
              height={badHeight}
            />
          </g>
        );
      })}
    </svg>
  );
}
