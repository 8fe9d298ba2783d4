// The deliveries: chart, filters and a live list; one delivery in a drawer. The whole state is in
// the address.
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
        title={isFiltered(filter) ? 'Matching deliveries' : 'Latest deliveries'}
        actions={<NewRowsButton rows={live.newRows} />}
        isFlush
      >
        <div ref={rows} class="delivery-rows">
          <ListTable
            list={live.list}
            nouns={['delivery', 'deliveries']}
            columns={deliveryColumns(live.list.items)}
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
    <Empty icon="delivery" title="No deliveries yet">
      <p>A delivery is created for each subscription that matches a published event.</p>
      <p class="empty-actions">
        <LinkButton href="/console/subscriptions">Add a subscription</LinkButton>
        <LinkButton href="/console/events">Publish an event</LinkButton>
      </p>
    </Empty>
  );
}

/** The deliveries next to the open one, for `j` and `k`. */
function neighboursOf(
  id: string,
  { list }: LiveList,
): { readonly next: string | undefined; readonly before: string | undefined } {
  const at = list.items.findIndex((one) => one.id === id);
  if (at === -1) return { next: list.items[0]?.id, before: undefined };
  return { next: list.items[at + 1]?.id, before: list.items[at - 1]?.id };
}

/**
 * When the drawer closes, the focus returns to the row shown last, so that `j` continues from
 * there. Not if the user has started to type in a field.
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
