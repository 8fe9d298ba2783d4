// The product logo: a ring with an arrow that returns.
import type { JSX } from 'preact';

export function Logo(): JSX.Element {
  return (
    <svg class="logo" width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <path d="M17 10a7 7 0 1 1-2.6-5.4" />
      <path d="M17 1.8v4.6h-4.6" />
      <circle cx="10" cy="10" r="2.2" />
    </svg>
  );
}
