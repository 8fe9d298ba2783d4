// The time of the next attempt. A delivery may stay queued past its time: its subscription is
// paused, a failing receiver gets one delivery at a time, or concurrency is limited.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Time } from '../components/time.tsx';

const overdueMs = 3_000;

export function NextAttempt({ at }: { at: string }): JSX.Element {
  if (clock.value < Date.parse(at) + overdueMs) return <Time at={at} as="countdown" />;
  return (
    <span title="Due, but not sent yet. The subscription may be paused, its receiver may be failing, or its concurrency limit may be reached.">
      overdue
    </span>
  );
}
