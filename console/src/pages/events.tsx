// Events: the published events with their delivery states, and publishing by hand.
import '../events/events.css';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { get } from '../api.ts';
import { LinkButton } from '../components/button.tsx';
import { Empty, NoMatch } from '../components/list-states.tsx';
import { NewRowsButton } from '../components/new-rows-button.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { ListTable } from '../components/list-table.tsx';
import { eventColumns, eventHref } from '../events/columns.tsx';
import { EventDrawer } from '../events/drawer.tsx';
import { EventFilters, noFilter, readFilter, type EventFilter } from '../events/filters.tsx';
import { Publish } from '../events/publish.tsx';
import { useStates } from '../events/delivery-states.ts';
import { isFiltered } from '../is-filtered.ts';
import { limits } from '../limits.ts';
import { useList, type List } from '../list.ts';
import { useListUpdates } from '../list-updates.ts';
import { useIsInteracting } from '../interaction.ts';
import { hrefWith, param, setParams } from '../router.ts';
import { can } from '../session.ts';
import type { Page } from '../list.ts';
import type { Event as PublishedEvent } from '../../../src/client/contract/event.ts';
import { useIsStale } from '../use-is-stale.ts';
import { useFrames } from '../stream.ts';

export function EventsPage(): JSX.Element {
  const filter = readFilter();
  const list = useList<PublishedEvent>(JSON.stringify(filter), (cursor, signal) => {
    const query = { ...filter, cursor, limit: limits.pageItems };
    return get<Page<PublishedEvent>>('/events', { query, ...(signal ? { signal } : {}) });
  });
  const rows = useRef<HTMLDivElement>(null);
  const updates = useListUpdates(useIsInteracting(rows), list.reload);
  useFrames(({ counts, isReset }) => {
    // The frame does not say which events match the filters.
    if (counts.published > 0 || isReset) updates.note(isFiltered(filter) ? 0 : counts.published);
  });
  const openId = param('eventId');
  return (
    <>
      <PageHeader title="Events">{can('publish') ? <PublishLink /> : null}</PageHeader>
      <EventFilters filter={filter} isFiltered={isFiltered(filter)} />
      <Section
        title={isFiltered(filter) ? 'Matching events' : 'Latest events'}
        actions={<NewRowsButton rows={updates} />}
        isFlush
      >
        <div ref={rows} class="event-rows">
          <EventRows list={list} filter={filter} />
        </div>
      </Section>
      {openId === undefined ? null : (
        <EventDrawer key={openId} id={openId} onClose={() => setParams({ eventId: undefined })} />
      )}
      {param('publish') === undefined || !can('publish') ? null : (
        <Publish
          onClose={() => setParams({ publish: undefined, to: undefined, name: undefined })}
        />
      )}
    </>
  );
}

function PublishLink(): JSX.Element {
  return (
    <LinkButton kind="primary" icon="event" href={hrefWith({ publish: 1 })}>
      Publish an event
    </LinkButton>
  );
}

function EventRows({
  list,
  filter,
}: {
  readonly list: List<PublishedEvent>;
  readonly filter: EventFilter;
}): JSX.Element {
  const isStale = useIsStale(JSON.stringify(filter), list);
  const states = useStates(list.items, filter.event);
  const cleared = isFiltered(filter) ? hrefWith(noFilter) : undefined;
  return (
    <ListTable
      list={list}
      nouns={['event', 'events']}
      columns={eventColumns(states, list.items)}
      hrefOf={eventHref}
      selectedId={param('eventId')}
      isStale={isStale}
      empty={cleared === undefined ? <NoneYet /> : <NoMatch what="events" clearHref={cleared} />}
    />
  );
}

function NoneYet(): JSX.Element {
  return (
    <Empty icon="event" title="No events yet">
      <p>A published event is delivered to every subscription that matches its name.</p>
      {can('publish') ? (
        <p class="empty-actions">
          <PublishLink />
        </p>
      ) : (
        <p>To publish events, sign in with a key that has the “publish” scope.</p>
      )}
    </Empty>
  );
}
