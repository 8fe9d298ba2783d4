// Where a client stands in the feed, as text: a time, and the last row of each node. Opaque to clients.
import { limits } from '../core/limits.ts';

export interface FeedCursor {
  /** By the store's clock: nothing that was written later than this has been seen for sure. */
  atMs: number;
  heads: ReadonlyMap<number, number>;
}

const shape = /^([0-9]{1,15})((?:_[0-9]{1,15}-[0-9]{1,15})*)$/;

export function writeCursor({ atMs, heads }: FeedCursor): string {
  return [atMs, ...[...heads].map(([node, seq]) => `${node}-${seq}`)].join('_');
}

/** Undefined when the text is no cursor. */
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

/** What was read last of each node; of very many nodes, those with the highest numbers are the youngest. */
export function moveOn(
  from: ReadonlyMap<number, number>,
  to: ReadonlyMap<number, number>,
): Map<number, number> {
  const all = [...new Map([...from, ...to])].sort(([a], [b]) => a - b);
  return new Map(all.slice(-limits.feedNodesMax));
}
