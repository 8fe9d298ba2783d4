// When the next attempt comes. Past its time a delivery may still wait: a failing receiver is tried with
// one at a time, and lanes have room for so many only.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Time } from '../components/time.tsx';

const patienceMs = 3_000;

export function NextAttempt({ at }: { at: string }): JSX.Element {
  if (clock.value < Date.parse(at) + patienceMs) return <Time at={at} as="countdown" />;
  return (
    <span title="Its time has come. It waits for its turn: a receiver that fails is tried with one delivery at a time.">
      in its turn
    </span>
  );
}
