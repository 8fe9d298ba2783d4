// How far something has come, from 0 to 1. The words beside it say the same.
import './progress.css';
import type { JSX } from 'preact';

export function Progress({
  value,
  label,
  tone = 'accent',
}: {
  readonly value: number;
  /** What it is that goes on, for readers. */
  readonly label: string;
  /** `quiet`: it goes on no more. */
  readonly tone?: 'accent' | 'quiet';
}): JSX.Element {
  return <progress class={`progress ${tone}`} max={1} value={value} aria-label={label} />;
}
