// A progress bar from 0 to 1. The text next to it says the same.
import './progress.css';
import type { JSX } from 'preact';

export function Progress({
  value,
  label,
  tone = 'accent',
}: {
  readonly value: number;
  /** What is in progress, for screen readers. */
  readonly label: string;
  /** `quiet` for something that has stopped. */
  readonly tone?: 'accent' | 'quiet';
}): JSX.Element {
  return <progress class={`progress ${tone}`} max={1} value={value} aria-label={label} />;
}
