// The deliveries: figures over time, filters, and a live list; one of them in a drawer. Everything that is
// chosen stands in the address.
import './deliveries.css';
import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { LinkButton } from '../components/button.tsx';
import { deliveryHref } from '../components/delivery-list.tsx';
import { Empty, NoMatch } from '../components/list-states.tsx';
import { NewItems } from '../components/new-items.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import { Rows } from '../components/rows.tsx';
import { deliveryColumns } from '../deliveries/columns.tsx';
import { DeliveryDrawer } from '../deliveries/drawer.tsx';
import { filterOf, noFilter, type DeliveryFilter } from '../deliveries/filter.ts';
import { Filters } from '../deliveries/filters.tsx';
import { Histogram } from '../deliveries/histogram.tsx';
import { useLiveList, type LiveList } from '../deliveries/live-list.ts';
import { isNarrow } from '../is-narrow.ts';
import { useReading } from '../reading.ts';
import { hrefWith, param, place, setParams } from '../router.ts';

export function DeliveriesPage(): JSX.Element {
  const filter = filterOf(place.value.query);
  const opened = param('delivery');
  const part = useRef<HTMLDivElement>(null);
  const isReadingRows = useReading(part);
  const isOpen = useSignal(false);
  isOpen.value = opened !== undefined;
  const isReading = useComputed(() => isOpen.value || isReadingRows.value);
  const live = useLiveList(filter, isReading);
  useFocusOnRow(opened);
  return (
    <>
      <PageHeader title="Deliveries" />
      <Histogram filter={filter} />
      <Filters filter={filter} />
      <Section
        title={isNarrow(filter) ? 'Deliveries that match' : 'Newest deliveries'}
        aside={<NewItems news={live.news} />}
        isFlush
      >
        <div ref={part} class="delivery-rows">
          <Rows
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
  if (isNarrow(filter)) return <NoMatch what="deliveries" clearHref={hrefWith(noFilter)} />;
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
