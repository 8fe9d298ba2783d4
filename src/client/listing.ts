// Lists of the service: one page, and a list read page by page or item by item across all pages.
import { quote } from './failure.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; null on the last one. A short page can still have a next one. */
  readonly nextCursor: string | null;
}

export interface Listing<T, P extends Page<T> = Page<T>> extends AsyncIterable<T> {
  /** The first page, or the page at a `nextCursor`. */
  page(cursor?: string | null): Promise<P>;
}

/** Requests nothing until it is read, and each page only after the previous one is used up. */
export function createListing<T, P extends Page<T>>(
  read: (cursor: string | undefined) => Promise<P>,
): Listing<T, P> {
  return {
    page: async (cursor) => read(cursor ?? undefined),
    [Symbol.asyncIterator]: async function* walk() {
      let cursor: string | undefined;
      const isRound = circleFinder();
      for (;;) {
        const { items, nextCursor } = await read(cursor);
        yield* items;
        if (typeof nextCursor !== 'string') return;
        if (isRound(nextCursor)) {
          const where = quote(nextCursor);
          throw new Error(
            `Cannot list everything: the service returned the cursor "${where}" twice`,
          );
        }
        cursor = nextCursor;
      }
    },
  };
}

/**
 * Whether a cursor was seen before. It remembers one cursor, and replaces it at intervals that double each
 * time (Brent's algorithm): a cycle of any size is found within three rounds, in constant memory.
 */
export function circleFinder(): (cursor: string) => boolean {
  let kept: string | undefined;
  let steps = 0;
  let distance = 1;
  return (cursor) => {
    if (cursor === kept) return true;
    steps += 1;
    if (steps === distance) [kept, steps, distance] = [cursor, 0, distance * 2];
    return false;
  };
}
