// Line icons, 16 by 16. They repeat the word next to them, so they are hidden from screen readers.
import type { JSX } from 'preact';
import type { consoleDrawings } from '../console-icons.ts';

const drawings = {
  alert: 'M8 1.8 15 14H1zM8 6.2v3.6M8 11.9v.2',
  check: 'M2.5 8.5 6.2 12 13.5 4.5',
  chevron: 'M6 3.5 10.5 8 6 12.5',
  clock: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.6V8l2.4 1.6',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  dash: 'M3.5 8h9',
  delivery: 'M1.8 8h9.4M7.5 4.2 11.3 8l-3.8 3.8M14.2 3v10',
  event: 'M8.8 1.8 3.2 9h4.2l-.8 5.2L12.8 7H8.4z',
  key: 'M10.6 2a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8zM8.2 7.8 2 14M4.4 11.6l1.8 1.8',
  more: 'M2.4 8a.6.6 0 1 0 1.2 0 .6.6 0 0 0-1.2 0zM7.4 8a.6.6 0 1 0 1.2 0 .6.6 0 0 0-1.2 0zM12.4 8a.6.6 0 1 0 1.2 0 .6.6 0 0 0-1.2 0z',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M4.5 2.8 12.8 8l-8.3 5.2z',
  plus: 'M8 3v10M3 8h10',
  replay: 'M2.4 8a5.6 5.6 0 1 0 1.8-4.1L2.2 5.8M2.2 2.2v3.6h3.6',
  running: 'M8 1.8a6.2 6.2 0 0 1 6.2 6.2M8 14.2A6.2 6.2 0 0 1 1.8 8',
  search: 'M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6zM10.5 10.5l3.4 3.4',
  'sign-out': 'M6.5 2.2H2.8v11.6h3.7M6.5 8h7.2M10.8 4.8 14 8l-3.2 3.2',
  subscription: 'M2.2 9.2a5.8 5.8 0 0 1 11.6 0M5 9.4a3 3 0 0 1 6 0M8 9.2v.1M8 9.3v4.5',
} as const;

export type IconName = keyof typeof drawings | keyof typeof consoleDrawings;

const added: Partial<Record<IconName, string>> = {};

/** The portal needs only the icons above. */
export function addDrawings(more: typeof consoleDrawings): void {
  Object.assign(added, more);
}

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg
      class="icon"
      width="16"
      height="16"
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
    >
      <path d={{ ...drawings, ...added }[name]} />
    </svg>
  );
}
