// The filters of the events list.
import type { JSX } from 'preact';
import { TextField } from '../components/field.tsx';
import { CustomerField, FilterBar, SubjectField, TimeFilters } from '../components/filter-bar.tsx';
import { eventError } from '../event-name.ts';
import { param, setParams } from '../router.ts';

export type EventFilter = {
  readonly event: string | undefined;
  readonly subject: string | undefined;
  readonly customer: string | undefined;
  readonly from: string | undefined;
  readonly until: string | undefined;
};

/** Removes every filter, for setParams and links. */
export const noFilter = {
  event: undefined,
  subject: undefined,
  customer: undefined,
  from: undefined,
  until: undefined,
} as const;

export function readFilter(): EventFilter {
  return {
    event: param('event'),
    subject: param('subject'),
    customer: param('customer'),
    from: param('from'),
    until: param('until'),
  };
}

export function EventFilters({
  filter,
  isFiltered,
}: {
  readonly filter: EventFilter;
  readonly isFiltered: boolean;
}): JSX.Element {
  return (
    <FilterBar what="events" cleared={isFiltered ? noFilter : undefined}>
      <TextField
        label="Name or pattern"
        value={filter.event ?? ''}
        placeholder="order.*"
        isMono
        maxLength={256}
        error={eventError(filter.event)}
        onChange={(value) => setParams({ event: value.trim() })}
      />
      <SubjectField value={filter.subject} />
      <CustomerField value={filter.customer} />
      <TextField
        label="Event ID"
        value={param('eventId') ?? ''}
        placeholder="evt_…"
        isMono
        maxLength={64}
        onChange={(value) => setParams({ eventId: value.trim() })}
      />
      <TimeFilters from={filter.from} until={filter.until} />
    </FilterBar>
  );
}
