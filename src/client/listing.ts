// A list of the service: page by page, or one after the other over all pages.
import { quote } from './failure.ts';
import type { Page } from './page.ts';

export interface Listing<T, P extends Page<T> = Page<T>> extends AsyncIterable<T> {
  /** The first page, or the one at a `nextCursor`. */
  page(cursor?: string | null): Promise<P>;
}

/** Nothing is asked before somebody reads, and no page before the last one is used up. */
export function createListing<T, P extends Page<T>>(
  read: (cursor: string | undefined) => Promise<P>,
): Listing<T, P> {
  return {
    page: async (cursor) => read(cursor ?? undefined),
    [Symbol.asyncIterator]: async function* walk() {
      let cursor: string | undefined;
      // One cursor is remembered, for twice as many pages as the one before it: whatever the size of a
      // circle, one of them lies on it for long enough to be met again (Brent's way).
      let mark: string | undefined;
      let pagesOfMark = 1;
      for (let pages = 1; ; pages += 1) {
        const { items, nextCursor } = await read(cursor);
        yield* items;
        if (typeof nextCursor !== 'string') return;
        if (nextCursor === mark) {
          const where = quote(nextCursor);
          throw new Error(`Cannot walk the list: its pages lead back to the cursor "${where}"`);
        }
        if (pages === pagesOfMark) {
          mark = nextCursor;
          pagesOfMark *= 2;
          pages = 0;
        }
        cursor = nextCursor;
      }
    },
  };
}
