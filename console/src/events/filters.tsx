// The filters of the list of events, all of them in the address.
import type { JSX } from 'preact';
import { LinkButton } from '../components/button.tsx';
import { TextField, TimeField } from '../components/field.tsx';
import { fromField, toField } from '../deliveries/local-time.ts';
import { patternFlaw } from '../event-name.ts';
import { hrefWith, param, setParams } from '../router.ts';

export type EventFilter = {
  readonly event: string | undefined;
  readonly from: string | undefined;
  readonly until: string | undefined;
};

export function readFilter(): EventFilter {
  return { event: param('event'), from: param('from'), until: param('until') };
}

export function hasFilter(filter: EventFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

export function clearHref(): string {
  return hrefWith({ event: undefined, from: undefined, until: undefined });
}

export function EventFilters({ filter }: { filter: EventFilter }): JSX.Element {
  return (
    <div class="filters" role="search" aria-label="Filter events">
      <TextField
        label="Name or pattern"
        value={filter.event ?? ''}
        placeholder="order.*"
        isMono
        maxLength={128}
        error={patternFlaw(filter.event)}
        onChange={(value) => setParams({ event: value.trim() })}
      />
      <TextField
        label="Id"
        value={param('eventId') ?? ''}
        placeholder="evt_…"
        isMono
        maxLength={64}
        onChange={(value) => setParams({ eventId: value.trim() })}
      />
      <TimeField
        label="Published from"
        value={toField(filter.from)}
        onChange={(value) => setParams({ from: fromField(value) })}
      />
      <TimeField
        label="Until"
        value={toField(filter.until)}
        onChange={(value) => setParams({ until: fromField(value) })}
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
