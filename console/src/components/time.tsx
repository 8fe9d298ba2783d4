// A moment: how long ago or how soon as text, the exact time in the title.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { ago, countdown, dateTime } from '../format.ts';

/** `countdown` counts to the second; `exact` shows the time itself. */
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
