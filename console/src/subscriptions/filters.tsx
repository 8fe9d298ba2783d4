// The filters of the subscriptions list.
import type { JSX } from 'preact';
import { Select, TextField } from '../components/field.tsx';
import { CustomerField, FilterBar, SubjectField } from '../components/filter-bar.tsx';
import { eventError } from '../event-name.ts';
import { param, setParams } from '../router.ts';

const states = [
  { value: '', text: 'Any state' },
  { value: 'unconfirmed', text: 'Unconfirmed' },
  { value: 'active', text: 'Active' },
  { value: 'paused', text: 'Paused' },
  { value: 'disabled', text: 'Disabled' },
  { value: 'ended', text: 'Ended' },
];

export type SubscriptionFilter = {
  readonly state: string | undefined;
  readonly event: string | undefined;
  readonly url: string | undefined;
  readonly subject: string | undefined;
  readonly customer: string | undefined;
};

/** Removes every filter, for setParams and links. */
export const noFilter = {
  state: undefined,
  event: undefined,
  url: undefined,
  subject: undefined,
  customer: undefined,
} as const;

export function readFilter(): SubscriptionFilter {
  return {
    state: param('state'),
    event: param('event'),
    url: param('url'),
    subject: param('subject'),
    customer: param('customer'),
  };
}

export function SubscriptionFilters({
  filter,
  isFiltered,
}: {
  readonly filter: SubscriptionFilter;
  readonly isFiltered: boolean;
}): JSX.Element {
  return (
    <FilterBar what="subscriptions" cleared={isFiltered ? noFilter : undefined}>
      <Select
        label="State"
        value={filter.state ?? ''}
        options={states}
        onChange={(value) => setParams({ state: value })}
      />
      <TextField
        label="Matches event"
        value={filter.event ?? ''}
        placeholder="order.created"
        isMono
        maxLength={256}
        error={eventError(filter.event)}
        onChange={(value) => setParams({ event: value.trim() })}
      />
      <TextField
        label="URL contains"
        value={filter.url ?? ''}
        placeholder="receiver.example"
        isMono
        maxLength={256}
        onChange={(value) => setParams({ url: value.trim() })}
      />
      <SubjectField value={filter.subject} />
      <CustomerField value={filter.customer} />
    </FilterBar>
  );
}
