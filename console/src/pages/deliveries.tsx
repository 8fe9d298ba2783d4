// The deliveries: figures over time, filters, and a live list; one of them in a drawer. Everything that is
// chosen stands in the address.
import './deliveries.css';
import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LinkButton } from '../components/button.tsx';
import { deliveryHref } from '../components/delivery-list.tsx';
import { Empty, NoMatch } from '../components/list-states.tsx';
import { NewRowsButton } from '../components/new-rows-button.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { ListTable } from '../components/list-table.tsx';
import { deliveryColumns } from '../deliveries/columns.tsx';
import { DeliveryDrawer } from '../deliveries/drawer.tsx';
import { filterOf, noFilter, type DeliveryFilter } from '../deliveries/filter.ts';
import { Filters } from '../deliveries/filters.tsx';
import { Histogram } from '../deliveries/histogram.tsx';
import { useLiveList, type LiveList } from '../deliveries/live-list.ts';
import { isFiltered } from '../is-filtered.ts';
import { useIsInteracting } from '../interaction.ts';
import { hrefWith, param, route, setParams } from '../router.ts';

export function DeliveriesPage(): JSX.Element {
  const filter = filterOf(route.value.query);
  const opened = param('delivery');
  const rows = useRef<HTMLDivElement>(null);
  const isInteractingWithRows = useIsInteracting(rows);
  const isOpen = useSignal(false);
  isOpen.value = opened !== undefined;
  const isInteracting = useComputed(() => isOpen.value || isInteractingWithRows.value);
  const live = useLiveList(filter, isInteracting);
  useFocusOnRow(opened);
  return (
    <>
      <PageHeader title="Deliveries" />
      <Histogram filter={filter} />
      <Filters filter={filter} />
      <Section
        title={isFiltered(filter) ? 'Deliveries that match' : 'Newest deliveries'}
        actions={<NewRowsButton rows={live.newRows} />}
        isFlush
      >
        <div ref={rows} class="delivery-rows">
          <ListTable
            list={live.list}
            nouns={['delivery', 'deliveries']}
            columns={deliveryColumns}
            hrefOf={({ id }) => deliveryHref(id)}
            selectedId={opened}
            isStale={live.isStale}
            empty={<NoRows filter={filter} />}
          />
        </div>
      </Section>
      {opened === undefined ? null : (
        <DeliveryDrawer
          id={opened}
          neighbours={neighboursOf(opened, live)}
          onClose={() => setParams({ delivery: undefined, attempt: undefined, tab: undefined })}
        />
      )}
    </>
  );
}

function NoRows({ filter }: { filter: DeliveryFilter }): JSX.Element {
  if (isFiltered(filter)) return <NoMatch what="deliveries" clearHref={hrefWith(noFilter)} />;
  return (
    <Empty icon="delivery" title="Nothing was sent yet">
      <p>A delivery appears here as soon as an event is published that a subscription hears.</p>
      <p class="empty-actions">
        <LinkButton href="/console/subscriptions">Add a subscription</LinkButton>
        <LinkButton href="/console/events">Publish an event</LinkButton>
      </p>
    </Empty>
  );
}

/** The deliveries beside the opened one, for `j` and `k`. */
function neighboursOf(
  id: string,
  { list }: LiveList,
): { readonly next: string | undefined; readonly before: string | undefined } {
  const at = list.items.findIndex((one) => one.id === id);
  if (at === -1) return { next: list.items[0]?.id, before: undefined };
  return { next: list.items[at + 1]?.id, before: list.items[at - 1]?.id };
}

/**
 * After the drawer the focus goes to the row of what was shown last, so that `j` goes on from there. Not
 * if somebody has begun to search meanwhile.
 */
function useFocusOnRow(opened: string | undefined): void {
  const last = useRef(opened);
  useEffect(() => {
    const before = last.current;
    last.current = opened;
    if (opened !== undefined || before === undefined) return;
    if (document.activeElement instanceof HTMLInputElement) return;
    const links = [...document.querySelectorAll<HTMLAnchorElement>('main a[data-row]')];
    links.find(({ search }) => new URLSearchParams(search).get('delivery') === before)?.focus();
  }, [opened]);
}
