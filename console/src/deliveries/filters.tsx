// The filters above the list. Each is a query parameter; choosing one adds a history entry.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button, LinkButton } from '../components/button.tsx';
import { Select, SuggestField, TextField } from '../components/field.tsx';
import {
  ClearFilters,
  CustomerField,
  SubjectField,
  TimeFilters,
} from '../components/filter-bar.tsx';
import { eventError } from '../event-name.ts';
import { isFiltered } from '../is-filtered.ts';
import { hrefWith, setParams } from '../router.ts';
import { useEventSuggestions } from '../events/event-suggestions.ts';
import { noFilter, type DeliveryFilter } from './filter.ts';
import { readResult, resultSuggestions, resultText } from './result-filter.ts';

const states = [
  { value: '', text: 'Any state' },
  { value: 'pending', text: 'Pending' },
  { value: 'retrying', text: 'Retrying' },
  { value: 'delivered', text: 'Delivered' },
  { value: 'dead', text: 'Dead' },
  { value: 'cancelled', text: 'Cancelled' },
  // States of the API that a link may contain.
  { value: 'due', text: 'Queued' },
  { value: 'running', text: 'In flight' },
] as const;

export function Filters({ filter }: { filter: DeliveryFilter }): JSX.Element {
  const names = useEventSuggestions();
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
        maxLength={256}
        options={names}
        error={eventError(filter.event)}
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
        <SubjectField value={filter.subject} />
        <CustomerField value={filter.customer} />
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
              Remove event filter
            </LinkButton>
          )}
          <ClearFilters cleared={noFilter} />
        </p>
      ) : null}
    </div>
  );
}

/** On a phone these are behind a button, unless one of them is set. */
function hasMore(filter: DeliveryFilter): boolean {
  const { state: _state, event: _event, eventId: _eventId, ...more } = filter;
  return isFiltered(more);
}

function ResultField({ filter }: { filter: DeliveryFilter }): JSX.Element {
  const shown = resultText(filter);
  const error = useSignal<string | undefined>(undefined);
  useEffect(() => {
    error.value = undefined;
  }, [shown]);
  return (
    <SuggestField
      label="Status or error"
      value={shown}
      placeholder="5xx"
      maxLength={32}
      options={resultSuggestions}
      error={error.value}
      onChange={(text) => {
        const read = readResult(text);
        error.value =
          read === undefined
            ? 'Expected a status such as 404 or 5xx, or an error such as timeout.'
            : undefined;
        if (read !== undefined) setParams({ status: read.status, error: read.error });
      }}
    />
  );
}
