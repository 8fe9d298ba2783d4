// The table of a paged list, in any loading state.
import type { ComponentChildren, JSX } from 'preact';
import type { List } from '../list.ts';
import { words } from '../words.ts';
import { Failed, LoadMore, Skeleton } from './list-states.tsx';
import { Notice } from './notice.tsx';
import { Table, type Column } from './table.tsx';

type ListTableProps<T> = {
  readonly list: List<T>;
  /** Singular and plural for people. */
  readonly nouns: readonly [one: string, several: string];
  /** Default: newest first. */
  readonly order?: string;
  readonly columns: readonly Column<T>[];
  readonly hrefOf?: (item: T) => string;
  readonly selectedId?: string | undefined;
  readonly isStale?: boolean;
  /** Shown instead of an empty table. */
  readonly empty: ComponentChildren;
};

export function ListTable<T extends { readonly id: string }>(
  props: ListTableProps<T>,
): JSX.Element {
  const { list, nouns, order = words().newestFirst, empty, columns } = props;
  const { hrefOf, selectedId, isStale = false } = props;
  const { state, items, staleProblem } = list;
  if (state.kind === 'loading') return <Skeleton rows={8} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={list.reload} />;
  if (items.length === 0 && !list.hasMore) return <>{empty}</>;
  const [one, several] = nouns;
  return (
    <>
      {staleProblem === undefined ? null : (
        <Notice tone="warn" title={words().mayBeOutdated}>
          <p>{staleProblem.detail}</p>
        </Notice>
      )}
      <Table
        caption={`${several.charAt(0).toUpperCase()}${several.slice(1)}, ${order}`}
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
