// The position of a client in the feed as text: a time, and the last row of each node. Opaque to
// clients.
import { limits } from '../../core/limits/limits.ts';

export interface FeedCursor {
  /** By the store's clock: rows written later than this may not have been seen. */
  atMs: number;
  heads: ReadonlyMap<number, number>;
}

const shape = /^([0-9]{1,15})((?:_[0-9]{1,15}-[0-9]{1,15})*)$/;

export function writeCursor({ atMs, heads }: FeedCursor): string {
  return [atMs, ...[...heads].map(([node, seq]) => `${node}-${seq}`)].join('_');
}

/** Undefined if the text is not a cursor. */
export function readCursor(text: string): FeedCursor | undefined {
  const found = shape.exec(text);
  if (found?.[1] === undefined) return undefined;
  const pairs = (found[2] ?? '').split('_').slice(1);
  if (pairs.length > limits.feedNodesMax) return undefined;
  const heads = new Map(
    pairs.map((pair) => {
      const [node, seq] = pair.split('-').map(Number);
      return [node ?? 0, seq ?? 0];
    }),
  );
  return { atMs: Number(found[1]), heads };
}

/**
 * The last row read of each node. Of too many nodes it keeps those with the highest numbers, which
 * are the newest.
 */
export function moveOn(
  from: ReadonlyMap<number, number>,
  to: ReadonlyMap<number, number>,
): Map<number, number> {
  const all = [...new Map([...from, ...to])].sort(([a], [b]) => a - b);
  return new Map(all.slice(-limits.feedNodesMax));
}
