// Shows whether the view is live, and pauses it.
import type { JSX } from 'preact';
import { connection, isPaused, type Connection } from '../stream.ts';

const words: Readonly<Record<Connection, string>> = {
  off: 'Not live',
  connecting: 'Connecting…',
  live: 'Live',
  reconnecting: 'Reconnecting…',
};

export function LiveButton(): JSX.Element {
  const word = isPaused.value ? 'Paused' : words[connection.value];
  const kind = isPaused.value ? 'paused' : connection.value;
  const does = isPaused.value ? 'Resume live updates' : 'Pause live updates';
  return (
    <button
      type="button"
      class={`live live-${kind}`}
      title={does}
      aria-pressed={isPaused.value}
      aria-label={`${word}. Pause live updates`}
      onClick={() => (isPaused.value = !isPaused.value)}
    >
      <span class="live-dot" />
      <span role="status">{word}</span>
    </button>
  );
}
