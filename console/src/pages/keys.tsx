// Keys: who may use the app's interface, and for what. Secrets are shown once, when they are made.
import '../api-keys/api-keys.css';
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { keyColumns, keyHref } from '../api-keys/columns.tsx';
import { KeyDrawer } from '../api-keys/drawer.tsx';
import { NewKey } from '../api-keys/new-key.tsx';
import { LinkButton } from '../components/button.tsx';
import { Empty, Failed, LoadMore, Skeleton } from '../components/list-states.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { Table } from '../components/table.tsx';
import { limits } from '../limits.ts';
import { useList, type List } from '../list.ts';
import { hrefWith, param, setParams } from '../router.ts';
import type { Key, Page } from '../shapes.ts';

export function KeysPage(): JSX.Element {
  const list = useList<Key>('keys', (cursor, signal) => {
    const query = { cursor, limit: limits.pageItems };
    return get<Page<Key>>('/keys', { query, ...(signal ? { signal } : {}) });
  });
  const openId = param('key');
  return (
    <>
      <PageHeader title="Keys" note="Who may use the interface of this app, and for what">
        <LinkButton kind="primary" icon="plus" href={hrefWith({ new: 1, key: undefined })}>
          New key
        </LinkButton>
      </PageHeader>
      <Section title="Newest keys" isFlush>
        <Content list={list} />
      </Section>
      {param('new') === undefined ? null : (
        <NewKey onMade={list.reload} onClose={() => setParams({ new: undefined })} />
      )}
      {openId === undefined ? null : (
        <KeyDrawer
          key={openId}
          id={openId}
          onChange={(changed) =>
            list.change((items) => items.map((one) => (one.id === changed.id ? changed : one)))
          }
          onClose={() => setParams({ key: undefined })}
        />
      )}
    </>
  );
}

function Content({ list }: { list: List<Key> }): JSX.Element {
  const { state, items, staleProblem } = list;
  if (state.kind === 'loading') return <Skeleton />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={list.reload} />;
  if (items.length === 0 && !list.hasMore) {
    return (
      <Empty icon="key" title="No keys">
        <p class="empty-actions">
          <LinkButton kind="primary" icon="plus" href={hrefWith({ new: 1 })}>
            New key
          </LinkButton>
        </p>
      </Empty>
    );
  }
  return (
    <>
      {staleProblem === undefined ? null : (
        <Notice tone="warn" title="This list may be old">
          <p>{staleProblem.detail}</p>
        </Notice>
      )}
      <Table
        caption="Keys, newest first"
        columns={keyColumns}
        items={items}
        idOf={({ id }) => id}
        hrefOf={keyHref}
        selectedId={param('key')}
      />
      <LoadMore
        hasMore={list.hasMore}
        isReading={list.isReadingMore}
        shown={items.length}
        what={items.length === 1 ? 'key' : 'keys'}
        onMore={list.loadMore}
      />
    </>
  );
}
