// A time: relative as text, exact in the title.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { ago, countdown, dateTime } from '../format.ts';

/** `countdown` counts seconds; `exact` shows the absolute time. */
export function Time({
  at,
  as = 'ago',
}: {
  at: string;
  as?: 'ago' | 'countdown' | 'exact';
}): JSX.Element {
  const ms = Date.parse(at);
  const text = {
    ago: () => ago(ms, clock.value),
    countdown: () => countdown(ms, clock.value),
    exact: () => dateTime(ms),
  }[as]();
  return (
    <time dateTime={at} title={as === 'exact' ? ago(ms, clock.value) : `${dateTime(ms)} (${at})`}>
      {text}
    </time>
  );
}
