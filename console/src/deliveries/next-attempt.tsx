// The time of the next attempt. A delivery may stay queued past its time: a failing receiver gets
// one delivery at a time, and concurrency is limited.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Time } from '../components/time.tsx';

const overdueMs = 3_000;

export function NextAttempt({ at }: { at: string }): JSX.Element {
  if (clock.value < Date.parse(at) + overdueMs) return <Time at={at} as="countdown" />;
  return (
    <span title="The attempt is due and waits for a free slot. A failing receiver gets one delivery at a time.">
      waiting for a slot
    </span>
  );
}
