// The filters of the list of subscriptions, all of them in the address.
import type { JSX } from 'preact';
import { LinkButton } from '../components/button.tsx';
import { Select, TextField } from '../components/field.tsx';
import { nameFlaw } from '../event-name.ts';
import { hrefWith, param, setParams } from '../router.ts';

const states = [
  { value: '', text: 'Any state' },
  { value: 'active', text: 'Active' },
  { value: 'paused', text: 'Paused' },
  { value: 'disabled', text: 'Disabled' },
  { value: 'ended', text: 'Ended' },
];

export type SubscriptionFilter = {
  readonly state: string | undefined;
  readonly event: string | undefined;
  readonly url: string | undefined;
};

export function readFilter(): SubscriptionFilter {
  return { state: param('state'), event: param('event'), url: param('url') };
}

export function hasFilter(filter: SubscriptionFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

export function clearHref(): string {
  return hrefWith({ state: undefined, event: undefined, url: undefined });
}

export function SubscriptionFilters({ filter }: { filter: SubscriptionFilter }): JSX.Element {
  return (
    <div class="filters" role="search" aria-label="Filter subscriptions">
      <Select
        label="State"
        value={filter.state ?? ''}
        options={states}
        onChange={(value) => setParams({ state: value })}
      />
      <TextField
        label="Hears the event"
        value={filter.event ?? ''}
        placeholder="order.created"
        isMono
        maxLength={128}
        error={nameFlaw(filter.event)}
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
      {hasFilter(filter) ? (
        <p class="filters-clear">
          <LinkButton size="small" kind="quiet" icon="close" href={clearHref()}>
            Clear filters
          </LinkButton>
        </p>
      ) : null}
    </div>
  );
}
