// The audit trail: who changed what, when and from where.
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { auditColumns, entryHref } from '../audit/columns.tsx';
import { AuditFilters, noFilter, readFilter } from '../audit/filters.tsx';
import { Empty, NoMatch } from '../components/list-states.tsx';
import { ListTable } from '../components/list-table.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { isFiltered } from '../is-filtered.ts';
import { limits } from '../limits.ts';
import { useList, type Page } from '../list.ts';
import { hrefWith } from '../router.ts';
import { useIsStale } from '../use-is-stale.ts';
import type { AuditEntry } from '../../../src/client/contract/access.ts';

export function AuditPage(): JSX.Element {
  const filter = readFilter();
  const key = JSON.stringify(filter);
  const list = useList<AuditEntry>(key, (cursor, signal) => {
    const query = { ...filter, cursor, limit: limits.pageItems };
    return get<Page<AuditEntry>>('/audit', { query, ...(signal ? { signal } : {}) });
  });
  const isStale = useIsStale(key, list);
  const hasFilter = isFiltered(filter);
  return (
    <>
      <PageHeader title="Audit" note="Who changed what, when and from which address" />
      <AuditFilters filter={filter} isFiltered={hasFilter} />
      <Section title={hasFilter ? 'Matching entries' : 'Latest entries'} isFlush>
        <ListTable
          list={list}
          nouns={['entry', 'entries']}
          columns={auditColumns(list.items)}
          hrefOf={entryHref}
          selectedId={undefined}
          isStale={isStale}
          empty={
            hasFilter ? (
              <NoMatch what="entries" clearHref={hrefWith(noFilter)} />
            ) : (
              <Empty icon="audit" title="No entries yet">
                <p>Changes to keys, subscriptions, replays and event types are recorded here.</p>
              </Empty>
            )
          }
        />
      </Section>
    </>
  );
}
