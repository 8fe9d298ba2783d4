// The rows of a list that is read page by page, in whatever state the reading is.
import type { ComponentChildren, JSX } from 'preact';
import type { List } from '../list.ts';
import { Failed, LoadMore, Skeleton } from './list-states.tsx';
import { Notice } from './notice.tsx';
import { Table, type Column } from './table.tsx';

type ListTableProps<T> = {
  readonly list: List<T>;
  /** One of them, and several, for people. */
  readonly nouns: readonly [one: string, several: string];
  readonly columns: readonly Column<T>[];
  readonly hrefOf: (item: T) => string;
  readonly selectedId: string | undefined;
  readonly isStale?: boolean;
  /** In place of rows, where there are none. */
  readonly empty: ComponentChildren;
};

export function ListTable<T extends { readonly id: string }>(
  props: ListTableProps<T>,
): JSX.Element {
  const { list, nouns, empty, columns, hrefOf, selectedId, isStale = false } = props;
  const { state, items, staleProblem } = list;
  if (state.kind === 'loading') return <Skeleton rows={8} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={list.reload} />;
  if (items.length === 0 && !list.hasMore) return <>{empty}</>;
  const [one, several] = nouns;
  return (
    <>
      {staleProblem === undefined ? null : (
        <Notice tone="warn" title="This list may be old">
          <p>{staleProblem.detail}</p>
        </Notice>
      )}
      <Table
        caption={`${several.charAt(0).toUpperCase()}${several.slice(1)}, newest first`}
        columns={columns}
        items={items}
        idOf={({ id }) => id}
        hrefOf={hrefOf}
        selectedId={selectedId}
        isStale={isStale}
      />
      <LoadMore
        hasMore={list.hasMore}
        isLoading={list.isLoadingMore}
        shown={items.length}
        what={items.length === 1 ? one : several}
        onMore={list.loadMore}
      />
    </>
  );
}
