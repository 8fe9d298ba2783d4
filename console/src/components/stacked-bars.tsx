// Stacked bars over time, operated like a slider: arrows move between steps and announce the
// values, Shift extends, Enter selects the range; dragging does the same. A table holds the same
// data.
import './charts.css';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { compactCount, count, dateTime, stepTime } from '../format.ts';
import type { StatsStep as Step } from '../../../src/client/contract/service.ts';
import { Bars, chartHeights } from './chart-bars.tsx';
import { useStepSelection } from './chart-selection.ts';
import { series } from './chart-series.ts';
import { FiguresTable } from './figures-table.tsx';
import { useWidth } from './use-width.ts';

export type TimeRange = { readonly from: string; readonly until: string };

type StackedBarsProps = {
  readonly steps: readonly Step[];
  readonly stepSeconds: number;
  readonly label: string;
  readonly onSelect?: (range: TimeRange) => void;
  /** Small where the chart is secondary. */
  readonly size?: keyof typeof chartHeights;
};

export function StackedBars(props: StackedBarsProps): JSX.Element {
  const { steps, stepSeconds, label, onSelect, size = 'normal' } = props;
  const field = useRef<HTMLDivElement>(null);
  const width = useWidth(field);
  const { chosen, handlers } = useStepSelection(field, {
    size: steps.length,
    onSelect: onSelect === undefined ? undefined : (between) => onSelect(rangeOf(props, between)),
  });
  const last = Math.max(0, steps.length - 1);
  const at = Math.min(chosen?.at ?? last, last);
  const step = steps[at];
  return (
    <figure class="chart">
      <Legend steps={steps} />
      <div
        ref={field}
        class={`chart-field ${size}${onSelect === undefined ? '' : ' selects'}`}
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={at}
        aria-valuetext={step === undefined ? 'No data' : sentence(step, stepSeconds)}
        {...handlers}
      >
        <Bars
          steps={steps}
          stepSeconds={stepSeconds}
          width={width}
          height={chartHeights[size]}
          chosen={chosen}
        />
        {chosen === undefined || step === undefined ? null : (
          <Tip step={step} stepSeconds={stepSeconds} share={(at + 0.5) / steps.length} />
        )}
      </div>
      <FiguresTable steps={steps} stepSeconds={stepSeconds} label={label} />
    </figure>
  );
}

function Legend({ steps }: { steps: readonly Step[] }): JSX.Element {
  return (
    <ul class="chart-legend">
      {series.map(({ name, word }) => (
        <li key={name}>
          <span class={`swatch swatch-${name}`} />
          {word}
          <span class="soft">{compactCount(steps.reduce((sum, one) => sum + one[name], 0))}</span>
        </li>
      ))}
    </ul>
  );
}

function Tip({
  step,
  stepSeconds,
  share,
}: {
  step: Step;
  stepSeconds: number;
  share: number;
}): JSX.Element {
  const side = share > 0.5 ? { right: `${(1 - share) * 100}%` } : { left: `${share * 100}%` };
  return (
    <div class="chart-tip" style={side} aria-hidden="true">
      <p class="soft">{stepTime(Date.parse(step.at), stepSeconds)}</p>
      {series.map(({ name, word }) => (
        <p key={name}>
          <span class={`swatch swatch-${name}`} />
          {word} <b>{count(step[name])}</b>
        </p>
      ))}
    </div>
  );
}

function sentence(step: Step, stepSeconds: number): string {
  const figures = series.map(({ name, word }) => `${count(step[name])} ${word.toLowerCase()}`);
  return `${stepTime(Date.parse(step.at), stepSeconds)}: ${figures.join(', ')}`;
}

function rangeOf(
  { steps, stepSeconds }: StackedBarsProps,
  { first, last }: { first: number; last: number },
): TimeRange {
  const [from, end] = [steps[first]?.at ?? '', steps[last]?.at ?? ''];
  return { from, until: new Date(Date.parse(end) + stepSeconds * 1_000).toISOString() };
}

/** The time range as text, for filters set by dragging. */
export function rangeText({ from, until }: TimeRange): string {
  return `${dateTime(Date.parse(from))} to ${dateTime(Date.parse(until))}`;
}
