// Events: what was published and how it went, and publishing by hand.
import '../events/events.css';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { get } from '../api.ts';
import { LinkButton } from '../components/button.tsx';
import { Empty, Failed, LoadMore, NoMatch, Skeleton } from '../components/list-states.tsx';
import { NewItems } from '../components/new-items.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { Table } from '../components/table.tsx';
import { eventColumns, eventHref } from '../events/columns.tsx';
import { EventDrawer } from '../events/drawer.tsx';
import {
  clearHref,
  EventFilters,
  hasFilter,
  readFilter,
  type EventFilter,
} from '../events/filters.tsx';
import { Publish } from '../events/publish.tsx';
import { useStates } from '../events/states.ts';
import { limits } from '../limits.ts';
import { useList, type List } from '../list.ts';
import { useNews } from '../news.ts';
import { useReading } from '../reading.ts';
import { hrefWith, param, setParams } from '../router.ts';
import { can } from '../session.ts';
import type { Page, PublishedEvent } from '../shapes.ts';
import { useIsStale } from '../stale.ts';
import { useFrames } from '../stream.ts';

export function EventsPage(): JSX.Element {
  const filter = readFilter();
  const list = useList<PublishedEvent>(JSON.stringify(filter), (cursor, signal) => {
    const query = { ...filter, cursor, limit: limits.pageItems };
    return get<Page<PublishedEvent>>('/events', { query, ...(signal ? { signal } : {}) });
  });
  const place = useRef<HTMLDivElement>(null);
  const news = useNews(useReading(place), list.reload);
  useFrames(({ counts, isReset }) => {
    // Which of them fit the filters is not told.
    if (counts.published > 0 || isReset) news.note(hasFilter(filter) ? 0 : counts.published);
  });
  const openId = param('eventId');
  return (
    <>
      <PageHeader title="Events">{can('publish') ? <PublishLink /> : null}</PageHeader>
      <EventFilters filter={filter} />
      <Section
        title={hasFilter(filter) ? 'Events that match' : 'Newest events'}
        aside={<NewItems news={news} />}
        isFlush
      >
        <div ref={place} class="event-rows">
          <Content list={list} filter={filter} />
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

function Content({
  list,
  filter,
}: {
  readonly list: List<PublishedEvent>;
  readonly filter: EventFilter;
}): JSX.Element {
  const { state, items } = list;
  const isStale = useIsStale(JSON.stringify(filter), list);
  const states = useStates(items, filter.event);
  if (state.kind === 'loading') return <Skeleton />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={list.reload} />;
  if (items.length === 0 && !list.hasMore) {
    return hasFilter(filter) ? <NoMatch what="events" clearHref={clearHref()} /> : <NoneYet />;
  }
  return (
    <>
      <Table
        caption="Events, newest first"
        columns={eventColumns(states)}
        items={items}
        idOf={({ id }) => id}
        hrefOf={eventHref}
        selectedId={param('eventId')}
        isStale={isStale}
      />
      <LoadMore
        hasMore={list.hasMore}
        isReading={list.isReadingMore}
        shown={items.length}
        what={items.length === 1 ? 'event' : 'events'}
        onMore={list.loadMore}
      />
    </>
  );
}

function NoneYet(): JSX.Element {
  return (
    <Empty icon="event" title="No events yet">
      <p>An event says that something happened. Whoever subscribed to its name hears it.</p>
      {can('publish') ? (
        <p class="empty-actions">
          <PublishLink />
        </p>
      ) : (
        <p>To publish one, use a key that has the scope “publish”.</p>
      )}
    </Empty>
  );
}
