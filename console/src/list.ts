// Loads a list page by page. Pages may be short or empty and still have a next page: a few are
// skipped.
import { useSignal } from '@preact/signals';
import { get, isAborted, type ApiProblem, type Query } from './api.ts';
import { joinItems } from './join-items.ts';
import { limits } from './limits.ts';
import { useLoad, type Loaded } from './load.ts';
import { toastError } from './toasts.ts';

/** One page of a list. It may be short or even empty and still have a next page. */
export type Page<T> = { readonly items: readonly T[]; readonly nextCursor: string | null };

export type List<T> = {
  readonly state: Loaded<Page<T>>;
  readonly items: readonly T[];
  readonly isLoading: boolean;
  /** Why the last reload failed. The old items stay on screen and may be outdated. */
  readonly staleProblem: ApiProblem | undefined;
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
  readonly loadMore: () => void;
  readonly reload: () => void;
  readonly change: (next: (items: readonly T[]) => readonly T[]) => void;
};

export type ReadPage<T> = (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<T>>;

export function useList<T extends { readonly id: string }>(
  key: string,
  readPage: ReadPage<T>,
): List<T> {
  const load = useLoad(key, (signal) =>
    readNonEmpty((cursor) => readPage(cursor, signal), undefined),
  );
  const isLoadingMore = useSignal(false);
  const page = load.value;

  const loadMore = async (): Promise<void> => {
    const cursor = page?.nextCursor;
    if (isLoadingMore.value || cursor === null || cursor === undefined) return;
    isLoadingMore.value = true;
    try {
      const next = await readNonEmpty(readPage, cursor);
      // The filter may have changed meanwhile: then this page belongs to a list that is gone.
      load.change((now) =>
        now.nextCursor === cursor ? { ...next, items: joinItems(now.items, next.items) } : now,
      );
    } catch (error) {
      if (!isAborted(error)) toastError(error);
    } finally {
      isLoadingMore.value = false;
    }
  };

  return {
    state: load.state,
    items: page?.items ?? [],
    isLoading: load.isLoading,
    staleProblem: load.staleProblem,
    hasMore: typeof page?.nextCursor === 'string',
    isLoadingMore: isLoadingMore.value,
    loadMore: () => void loadMore(),
    reload: load.reload,
    change: (next) => load.change((now) => ({ ...now, items: next(now.items) })),
  };
}

/** The list at a path of the API, of which only some items may be shown. */
export function useListAt<T extends { readonly id: string }>(
  path: string,
  query: Query,
  isShown: (item: T) => boolean = () => true,
): List<T> {
  return useList(JSON.stringify(query), async (cursor, signal) => {
    const page = await get<Page<T>>(path, { query: { ...query, cursor }, signal });
    return { ...page, items: page.items.filter(isShown) };
  });
}

async function readNonEmpty<T>(readPage: ReadPage<T>, from: string | undefined): Promise<Page<T>> {
  let page = await readPage(from);
  for (let tries = 1; tries < limits.emptyPagesMax; tries += 1) {
    if (page.items.length > 0 || page.nextCursor === null) break;
    page = await readPage(page.nextCursor);
  }
  return page;
}
