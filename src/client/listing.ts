// A list of the service: page by page, or item by item across all pages.
import { circleFinder } from './circle.ts';
import { quote } from './failure.ts';
import type { Page } from './page.ts';

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
