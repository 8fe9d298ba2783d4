// The filters above the list. Each is a parameter of the address; a chosen one makes a step in the history.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { get } from '../api.ts';
import { Button, LinkButton } from '../components/button.tsx';
import { Select, SuggestField, TextField } from '../components/field.tsx';
import { ClearFilters, TimeFilters } from '../components/filter-bar.tsx';
import { patternError } from '../event-name.ts';
import { isFiltered } from '../is-filtered.ts';
import { useLoad } from '../load.ts';
import { hrefWith, setParams } from '../router.ts';
import type { EventType } from '../events/event-types.ts';
import { noFilter, type DeliveryFilter } from './filter.ts';
import { readResult, resultSuggestions, resultText } from './result-filter.ts';

const states = [
  { value: '', text: 'Any state' },
  { value: 'pending', text: 'Pending' },
  { value: 'retrying', text: 'Retrying' },
  { value: 'delivered', text: 'Delivered' },
  { value: 'dead', text: 'Dead' },
  { value: 'cancelled', text: 'Cancelled' },
  // Words of the service that a link may carry.
  { value: 'due', text: 'Waiting' },
  { value: 'running', text: 'Running' },
] as const;

export function Filters({ filter }: { filter: DeliveryFilter }): JSX.Element {
  const names = useEventNames();
  const state = filter.state ?? '';
  const isFolded = useSignal(!hasMore(filter));
  return (
    <div class="filters delivery-filters" role="search" aria-label="Filter deliveries">
      <Select
        label="State"
        value={state}
        options={states.slice(0, 6).concat(states.slice(6).filter(({ value }) => value === state))}
        onChange={(value) => setParams({ state: value })}
      />
      <SuggestField
        label="Event"
        value={filter.event ?? ''}
        placeholder="order.*"
        isMono
        maxLength={128}
        options={names}
        error={patternError(filter.event)}
        onChange={(value) => setParams({ event: value.trim() })}
      />
      <p class="filters-fold">
        <Button
          size="small"
          isExpanded={!isFolded.value}
          onClick={() => (isFolded.value = !isFolded.value)}
        >
          {isFolded.value ? 'More filters' : 'Fewer filters'}
        </Button>
      </p>
      <div class={isFolded.value ? 'filters-more folded' : 'filters-more'}>
        <TextField
          label="Subscription"
          value={filter.subscriberId ?? ''}
          placeholder="sub_…"
          isMono
          maxLength={64}
          onChange={(value) => setParams({ subscriberId: value.trim() })}
        />
        <ResultField filter={filter} />
        <TimeFilters from={filter.from} until={filter.until} />
      </div>
      {isFiltered(filter) ? (
        <p class="cluster">
          {filter.eventId === undefined ? null : (
            <LinkButton size="small" icon="close" href={hrefWith({ eventId: undefined })}>
              Only of one event
            </LinkButton>
          )}
          <ClearFilters cleared={noFilter} />
        </p>
      ) : null}
    </div>
  );
}

/** On a phone the others stand behind a button, unless one of them is set. */
function hasMore({ subscriberId, status, error, from, until }: DeliveryFilter): boolean {
  return [subscriberId, status, error, from, until].some((one) => one !== undefined);
}

function ResultField({ filter }: { filter: DeliveryFilter }): JSX.Element {
  const shown = resultText(filter);
  const error = useSignal<string | undefined>(undefined);
  useEffect(() => {
    error.value = undefined;
  }, [shown]);
  return (
    <SuggestField
      label="Code or error"
      value={shown}
      placeholder="5xx, timeout"
      maxLength={32}
      options={resultSuggestions}
      error={error.value}
      onChange={(text) => {
        const read = readResult(text);
        error.value =
          read === undefined ? 'Expected a code like 404 or 5xx, or an error.' : undefined;
        if (read !== undefined) setParams({ status: read.status, error: read.error });
      }}
    />
  );
}

/** Names and patterns of the contract; failing to read them only takes the suggestions away. */
function useEventNames(): readonly string[] {
  const types = useLoad('types', (signal) =>
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  );
  const names = types.value?.items.map(({ event }) => event) ?? [];
  return [...new Set(names.filter((name) => !name.includes('{')))];
}
