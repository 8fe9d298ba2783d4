// API keys of the app. Secrets are shown once, when they are created.
import '../api-keys/api-keys.css';
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { keyColumns, keyHref } from '../api-keys/columns.tsx';
import { KeyDrawer } from '../api-keys/drawer.tsx';
import { NewKey } from '../api-keys/new-key.tsx';
import { LinkButton } from '../components/button.tsx';
import { Empty } from '../components/list-states.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { ListTable } from '../components/list-table.tsx';
import { limits } from '../limits.ts';
import { useList } from '../list.ts';
import { hrefWith, param, setParams } from '../router.ts';
import type { Key } from '../../../src/client/contract/access.ts';
import type { Page } from '../list.ts';

export function KeysPage(): JSX.Element {
  const list = useList<Key>('keys', (cursor, signal) => {
    const query = { cursor, limit: limits.pageItems };
    return get<Page<Key>>('/keys', { query, ...(signal ? { signal } : {}) });
  });
  const openId = param('key');
  return (
    <>
      <PageHeader title="Keys" note="API keys of this app and their scopes">
        <LinkButton kind="primary" icon="plus" href={hrefWith({ new: 1, key: undefined })}>
          New key
        </LinkButton>
      </PageHeader>
      <Section title="Latest keys" isFlush>
        <ListTable
          list={list}
          nouns={['key', 'keys']}
          columns={keyColumns}
          hrefOf={keyHref}
          selectedId={openId}
          empty={<NoKeys />}
        />
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

function NoKeys(): JSX.Element {
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
