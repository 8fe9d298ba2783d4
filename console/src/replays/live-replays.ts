// Replays that the stream tells of, put into a list that is shown. Pure.
import type { Replay } from '../../../src/client/contract/replay.ts';

/** What is shown moves on in its place; new ones come to the top. */
export function mergeReplays(
  shown: readonly Replay[],
  moved: readonly Replay[],
): readonly Replay[] {
  if (moved.length === 0) return shown;
  const byId = new Map(moved.map((replay) => [replay.id, replay]));
  const known = new Set(shown.map(({ id }) => id));
  // Ids grow with time: one that is older than all that are shown belongs to a page not read yet.
  const oldest = shown.at(-1)?.id ?? '';
  const fresh = moved.filter(({ id }) => !known.has(id) && id > oldest);
  const kept = shown.map((one) => newer(one, byId.get(one.id)));
  return [...fresh.toSorted((a, b) => (a.id < b.id ? 1 : -1)), ...kept];
}

/** A frame may be older than what was read meanwhile: a replay never goes back. */
export function newer(one: Replay, other: Replay | undefined): Replay {
  if (other === undefined) return one;
  const isBehind =
    (one.state !== 'running' && other.state === 'running') || one.matched > other.matched;
  return isBehind ? one : other;
}
