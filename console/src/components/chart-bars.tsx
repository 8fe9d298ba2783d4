// Draws a stacked bar chart. Failures are hatched as well as coloured, and have a minimum height:
// one dead delivery in a million is visible.
import type { JSX } from 'preact';
import { compactCount, stepTime } from '../format.ts';
import type { StatsStep as Step } from '../../../src/client/contract/service.ts';
import { axisTop, labelledSteps } from './chart-scale.ts';
import { series } from './chart-series.ts';

export const chartHeights = { normal: 160, small: 88 } as const;
const foot = 20;
/** Room for the label above the top line. */
const headPx = 14;
const visiblePx = 2;

export function Bars({
  steps,
  stepSeconds,
  width,
  height,
  chosen,
}: {
  readonly steps: readonly Step[];
  readonly stepSeconds: number;
  readonly width: number;
  readonly height: number;
  readonly chosen: { readonly anchor: number; readonly at: number } | undefined;
}): JSX.Element {
  const top = axisTop(Math.max(0, ...steps.map(sumOf)));
  const each = steps.length === 0 ? 0 : width / steps.length;
  const from = chosen === undefined ? 0 : Math.min(chosen.anchor, chosen.at);
  const until = chosen === undefined ? 0 : Math.max(chosen.anchor, chosen.at) + 1;
  return (
    <svg class="chart-svg" width={width} height={height + foot} aria-hidden="true">
      <Hatches />
      {shares.map((share) => (
        <path key={share} class="chart-line" d={`M0 ${heightAt(share, height)}H${width}`} />
      ))}
      <rect class="chart-chosen" x={from * each} width={(until - from) * each} height={height} />
      {steps.map((step, at) => (
        <Bar key={step.at} step={step} x={at * each} width={each} height={height} top={top} />
      ))}
      {shares.slice(1).map((share) => (
        <text key={share} class="chart-text" x="0" y={heightAt(share, height) - 3}>
          {compactCount(top * share)}
        </text>
      ))}
      {labelledSteps(steps.length, { width, everyPx: stepSeconds < 3_600 ? 72 : 110 }).map((at) => (
        <text key={at} class="chart-text" x={at * each} y={height + 15}>
          {stepTime(Date.parse(steps[at]?.at ?? ''), stepSeconds)}
        </text>
      ))}
    </svg>
  );
}

/** Grid lines at the bottom, middle and top; the top line leaves room for its label. */
const shares = [0, 0.5, 1];

function heightAt(share: number, height: number): number {
  return height - share * (height - headPx);
}

function Bar({
  step,
  x,
  width,
  height,
  top,
}: {
  readonly step: Step;
  readonly x: number;
  readonly width: number;
  readonly height: number;
  /** The value at the top of the axis. */
  readonly top: number;
}): JSX.Element {
  const gap = width > 6 ? 2 : 1;
  const scale = (height - headPx) / top;
  let y = height;
  return (
    <>
      {series.map(({ name }) => {
        const value = step[name];
        if (value === 0) return null;
        const tall = Math.max(visiblePx, value * scale);
        y -= tall;
        return (
          <rect
            key={name}
            class={`bar-${name}`}
            x={x + gap / 2}
            y={Math.max(0, y)}
            width={Math.max(1, width - gap)}
            height={tall}
          />
        );
      })}
    </>
  );
}

function Hatches(): JSX.Element {
  return (
    <defs>
      {['retried', 'dead'].map((name) => (
        <pattern
          key={name}
          id={`hatch-${name}`}
          width="5"
          height="5"
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${name === 'dead' ? -45 : 45})`}
        >
          <rect class={`hatch-ground-${name}`} width="5" height="5" />
          <rect class={`hatch-line-${name}`} width="1.6" height="5" />
        </pattern>
      ))}
    </defs>
  );
}

function sumOf(step: Step): number {
  return series.reduce((sum, { name }) => sum + step[name], 0);
}
