// The data of a chart as a table. Empty steps are omitted.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { count, duration, stepTime } from '../format.ts';
import type { StatsStep as Step } from '../../../src/client/contract/service.ts';
import { series } from './chart-series.ts';

export function FiguresTable({
  steps,
  stepSeconds,
  label,
}: {
  readonly steps: readonly Step[];
  readonly stepSeconds: number;
  readonly label: string;
}): JSX.Element {
  const isOpen = useSignal(false);
  const busy = steps.filter((step) => series.some(({ name }) => step[name] > 0));
  return (
    <details
      class="figures"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>View as table</summary>
      {isOpen.value ? (
        <div class="figures-scroll" tabIndex={0} role="region" aria-label={label}>
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                {series.map(({ name, word }) => (
                  <th key={name} scope="col">
                    {word}
                  </th>
                ))}
                <th scope="col">p95</th>
              </tr>
            </thead>
            <tbody>
              {busy.map((step) => (
                <tr key={step.at}>
                  <th scope="row">{stepTime(Date.parse(step.at), stepSeconds)}</th>
                  {series.map(({ name }) => (
                    <td key={name}>{count(step[name])}</td>
                  ))}
                  <td>{step.p95Ms === null ? '–' : duration(step.p95Ms)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </details>
  );
}
