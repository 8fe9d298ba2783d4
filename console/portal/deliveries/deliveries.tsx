// The list of deliveries, with filters that are in the address.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import { useAction } from '../../src/action.ts';
import type { Query } from '../../src/api.ts';
import { Button, LinkButton } from '../../src/components/button.tsx';
import { Select, TextField } from '../../src/components/field.tsx';
import { Empty } from '../../src/components/list-states.tsx';
import { ListTable } from '../../src/components/list-table.tsx';
import { PageHeader } from '../../src/components/page.tsx';
import { visible } from '../../src/hidden-characters.ts';
import { limits } from '../../src/limits.ts';
import { useListAt } from '../../src/list.ts';
import type { Load } from '../../src/load.ts';
import { nameOf } from '../endpoints/endpoint-texts.ts';
import { useEndpoints } from '../endpoints/read-endpoints.ts';
import { readEventTypes, useEventTypes, type EventType } from '../events/read-types.ts';
import { t } from '../language.ts';
import { usePolling } from '../poll.ts';
import { go, href, param, setParams } from '../route.ts';
import { can } from '../session.ts';
import { deliveryColumns, deliveryHref } from './columns.tsx';
import { searchFor } from './search.ts';

/** As the address names them. */
const filterNames = ['state', 'event', 'subject', 'endpoint', 'eventId'] as const;

export function DeliveriesPage(): JSX.Element {
  const given = Object.fromEntries(filterNames.map((name) => [name, param(name)]));
  const { endpoint, ...others } = given;
  const query: Query = { ...others, subscriberId: endpoint, limit: limits.pageItems };
  const list = useListAt<Delivery>('/deliveries', query);
  // A reload would drop the pages that were loaded after the first.
  usePolling(list.reload, { everyMs: 10_000, isOn: list.items.length <= limits.pageItems });
  const isFiltered = Object.values(given).some((value) => value !== undefined);
  const say = t().deliveries;
  return (
    <>
      <PageHeader title={say.title} note={say.note}>
        {can('retry') ? (
          <LinkButton icon="replay" href={href('resend', { endpoint })}>
            {say.resend}
          </LinkButton>
        ) : undefined}
      </PageHeader>
      <Filters isFiltered={isFiltered} />
      <div class="card list">
        <ListTable
          list={list}
          nouns={[say.one, say.several]}
          columns={deliveryColumns(list.items, { withEndpoint: endpoint === undefined })}
          hrefOf={deliveryHref}
          isStale={list.isLoading && list.state.kind === 'ready' && list.items.length === 0}
          empty={
            isFiltered ? (
              <Empty icon="search" title={say.noMatch}>
                <p>{say.noMatchText}</p>
                <p class="empty-actions">
                  <LinkButton href={href('deliveries')}>{say.clear}</LinkButton>
                </p>
              </Empty>
            ) : (
              <Empty icon="delivery" title={say.empty}>
                <p>{say.emptyText}</p>
              </Empty>
            )
          }
        />
      </div>
    </>
  );
}

const states = ['delivered', 'dead', 'retrying', 'pending', 'cancelled'] as const;

function Filters({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  const say = t().deliveries;
  const endpoints = useEndpoints();
  const types = useEventTypes();
  const names = (types.value ?? []).map(({ event }) => event);
  const event = param('event');
  const isOtherEvent = event !== undefined && !names.includes(event);
  return (
    <div class="filters portal-filters">
      <Search types={types} />
      <Select
        label={say.state}
        value={param('state') ?? ''}
        options={[
          { value: '', text: say.anyState },
          ...states.map((value) => ({ value, text: stateText(value) })),
        ]}
        onChange={(state) => setParams({ state })}
      />
      <Select
        label={say.event}
        isLong
        value={event ?? ''}
        options={[
          { value: '', text: say.anyEvent },
          ...[...names, ...(isOtherEvent ? [event] : [])].map((value) => ({
            value,
            text: visible(value),
          })),
        ]}
        onChange={(value) => setParams({ event: value })}
      />
      <Select
        label={say.endpoint}
        isLong
        value={param('endpoint') ?? ''}
        options={[
          { value: '', text: say.anyEndpoint },
          ...endpoints.items.map((one) => ({ value: one.id, text: visible(nameOf(one)) })),
        ]}
        onChange={(endpoint) => setParams({ endpoint })}
      />
      {isFiltered ? <LinkButton href={href('deliveries')}>{say.clear}</LinkButton> : null}
    </div>
  );
}

function stateText(state: (typeof states)[number]): string {
  return state === 'pending' ? t().states.due : t().states[state];
}

function Search({ types }: { types: Load<readonly EventType[]> }): JSX.Element {
  const say = t().deliveries;
  const shown = param('subject') ?? param('eventId') ?? '';
  const text = useSignal(shown);
  const find = useAction(async () => {
    const known = types.value ?? (await readEventTypes());
    const events = known.map(({ event }) => event);
    const search = searchFor(text.value, events);
    if ('deliveryId' in search) go(`deliveries/${search.deliveryId}`);
    else setParams(search.filter);
  });
  return (
    <form
      class="search"
      role="search"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        find.run();
      }}
    >
      <TextField
        label={say.search}
        placeholder={say.searchHint}
        value={text.value}
        maxLength={256}
        onInput={(value) => (text.value = value)}
      />
      <Button type="submit" icon="search" label={say.search} />
    </form>
  );
}
