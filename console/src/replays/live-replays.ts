// Merges replays from the stream into the shown list. Pure.
import type { Replay } from '../../../src/client/contract/delivery.ts';

/** Updates shown replays in place and adds new ones on top. */
export function mergeReplays(
  shown: readonly Replay[],
  moved: readonly Replay[],
): readonly Replay[] {
  if (moved.length === 0) return shown;
  const byId = new Map(moved.map((replay) => [replay.id, replay]));
  const known = new Set(shown.map(({ id }) => id));
  // IDs grow with time: an older replay belongs to a page that is not loaded yet.
  const oldest = shown.at(-1)?.id ?? '';
  const fresh = moved.filter(({ id }) => !known.has(id) && id > oldest);
  const kept = shown.map((one) => newer(one, byId.get(one.id)));
  return [...fresh.toSorted((a, b) => (a.id < b.id ? 1 : -1)), ...kept];
}

/** A frame may be older than a response: progress never goes backwards. */
export function newer(one: Replay, other: Replay | undefined): Replay {
  if (other === undefined) return one;
  const isBehind =
    (one.state !== 'running' && other.state === 'running') || one.matched > other.matched;
  return isBehind ? one : other;
}
