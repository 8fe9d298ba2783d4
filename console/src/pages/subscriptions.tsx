// Subscriptions: their events, health and actions.
import '../subscriptions/subscriptions.css';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { get } from '../api.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Empty, NoMatch } from '../components/list-states.tsx';
import { NewRowsButton } from '../components/new-rows-button.tsx';
import { Notice } from '../components/notice.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { ListTable } from '../components/list-table.tsx';
import { isFiltered } from '../is-filtered.ts';
import { limits } from '../limits.ts';
import { useList, type List } from '../list.ts';
import { useListUpdates } from '../list-updates.ts';
import { useIsInteracting } from '../interaction.ts';
import { hrefWith, param, setParams } from '../router.ts';
import { can } from '../session.ts';
import type { Page } from '../list.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { useIsStale } from '../use-is-stale.ts';
import { useFrames } from '../stream.ts';
import { subscriptionColumns, subscriptionHref } from '../subscriptions/columns.tsx';
import { SubscriptionDrawer } from '../subscriptions/drawer.tsx';
import { useFigures, type AllFigures } from '../subscriptions/figures.ts';
import {
  noFilter,
  readFilter,
  SubscriptionFilters,
  type SubscriptionFilter,
} from '../subscriptions/filters.tsx';
import { NewSubscription } from '../subscriptions/new-subscription.tsx';

export function SubscriptionsPage(): JSX.Element {
  const filter = readFilter();
  const list = useSubscriptions(filter);
  const figures = useFigures(list.items.map(({ id }) => id));
  const rows = useRef<HTMLDivElement>(null);
  const updates = useListUpdates(useIsInteracting(rows), list.reload);
  useFrames(({ subscriptions, isReset }) => {
    const newest = list.items[0]?.id ?? '';
    // IDs grow with time: a larger one is newer than all shown rows.
    const fresh = subscriptions.filter((id) => id > newest).length;
    const shown = list.items.filter(({ id }) => subscriptions.includes(id));
    for (const { id } of shown) void readAgain(id, list);
    if (fresh > 0 || isReset) updates.note(isFiltered(filter) ? 0 : fresh);
  });
  const openId = param('subscription');
  return (
    <>
      <PageHeader title="Subscriptions">
        {can('subscribe') ? (
          <LinkButton kind="primary" icon="plus" href={hrefWith({ new: 1 })}>
            New subscription
          </LinkButton>
        ) : null}
      </PageHeader>
      <SubscriptionFilters filter={filter} isFiltered={isFiltered(filter)} />
      <Section
        title={isFiltered(filter) ? 'Matching subscriptions' : 'Latest subscriptions'}
        actions={<NewRowsButton rows={updates} />}
        isFlush
      >
        <div ref={rows} class="subscription-rows">
          <SubscriptionRows list={list} figures={figures} filter={filter} />
        </div>
      </Section>
      {openId === undefined ? null : (
        <SubscriptionDrawer
          key={openId}
          id={openId}
          onChange={(changed) => list.change((items) => replaced(items, changed))}
          onClose={() => setParams({ subscription: undefined })}
        />
      )}
      {param('new') === undefined || !can('subscribe') ? null : (
        <NewSubscription onDone={list.reload} onClose={() => setParams({ new: undefined })} />
      )}
    </>
  );
}

function useSubscriptions(filter: SubscriptionFilter): List<Subscription> {
  return useList<Subscription>(JSON.stringify(filter), (cursor, signal) => {
    const query = { ...filter, cursor, limit: limits.pageItems };
    return get<Page<Subscription>>('/subscriptions', { query, ...(signal ? { signal } : {}) });
  });
}

async function readAgain(id: string, list: List<Subscription>): Promise<void> {
  try {
    const changed = await get<Subscription>(`/subscriptions/${encodeURIComponent(id)}`);
    list.change((items) => replaced(items, changed));
  } catch {
    // The row may be outdated by one change; the next frame or reload corrects it.
  }
}

function replaced(items: readonly Subscription[], changed: Subscription): readonly Subscription[] {
  return items.map((one) => (one.id === changed.id ? changed : one));
}

function SubscriptionRows({
  list,
  figures,
  filter,
}: {
  readonly list: List<Subscription>;
  readonly figures: AllFigures;
  readonly filter: SubscriptionFilter;
}): JSX.Element {
  const isStale = useIsStale(JSON.stringify(filter), list);
  const cleared = isFiltered(filter) ? hrefWith(noFilter) : undefined;
  return (
    <>
      {figures.problem === undefined ? null : <NoFigures figures={figures} />}
      <ListTable
        list={list}
        nouns={['subscription', 'subscriptions']}
        columns={subscriptionColumns(figures.byId, list.items)}
        hrefOf={subscriptionHref}
        selectedId={param('subscription')}
        isStale={isStale}
        empty={
          cleared === undefined ? <NoneYet /> : <NoMatch what="subscriptions" clearHref={cleared} />
        }
      />
    </>
  );
}

function NoneYet(): JSX.Element {
  return (
    <Empty icon="subscription" title="No subscriptions yet">
      <p>A subscription sends matching events to a callback URL.</p>
      {can('subscribe') ? (
        <p class="empty-actions">
          <LinkButton kind="primary" icon="plus" href={hrefWith({ new: 1 })}>
            New subscription
          </LinkButton>
        </p>
      ) : (
        <p>To add one, sign in with a key that has the “subscribe” scope.</p>
      )}
    </Empty>
  );
}

function NoFigures({ figures }: { figures: AllFigures }): JSX.Element {
  return (
    <Notice tone="warn" title="Statistics could not be loaded">
      <p>
        {figures.problem?.detail}{' '}
        <Button size="small" onClick={figures.retry}>
          Try again
        </Button>
      </p>
    </Notice>
  );
}
