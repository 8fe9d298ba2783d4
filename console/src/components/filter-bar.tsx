// The filters above a list. Each is a query parameter, so that a link shows the same list.
import type { ComponentChildren, JSX } from 'preact';
import { fromField, toField } from '../local-time.ts';
import { hrefWith, setParams } from '../router.ts';
import { LinkButton } from './button.tsx';
import { TextField, TimeField } from './field.tsx';

/** `cleared` removes all filters; undefined if none is set. */
export function FilterBar({
  what,
  cleared,
  children,
}: {
  readonly what: string;
  readonly cleared: Readonly<Record<string, undefined>> | undefined;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="filters" role="search" aria-label={`Filter ${what}`}>
      {children}
      {cleared === undefined ? null : (
        <p class="filters-clear">
          <ClearFilters cleared={cleared} />
        </p>
      )}
    </div>
  );
}

export function ClearFilters({
  cleared,
}: {
  readonly cleared: Readonly<Record<string, undefined>>;
}): JSX.Element {
  return (
    <LinkButton size="small" kind="quiet" icon="close" href={hrefWith(cleared)}>
      Clear filters
    </LinkButton>
  );
}

export function SubjectField({ value }: { readonly value: string | undefined }): JSX.Element {
  return (
    <TextField
      label="Subject"
      value={value ?? ''}
      placeholder="job_17"
      isMono
      maxLength={256}
      onChange={(subject) => setParams({ subject: subject.trim() })}
    />
  );
}

export function CustomerField({ value }: { readonly value: string | undefined }): JSX.Element {
  return (
    <TextField
      label="Customer"
      value={value ?? ''}
      placeholder="cus_1"
      isMono
      maxLength={128}
      onChange={(customer) => setParams({ customer: customer.trim() })}
    />
  );
}

/** `what` happened at that time. From inclusive, until exclusive. */
export function TimeFilters({
  from,
  until,
  what = 'Published',
}: {
  readonly from: string | undefined;
  readonly until: string | undefined;
  readonly what?: string;
}): JSX.Element {
  return (
    <>
      <TimeField
        label={`${what} from`}
        value={toField(from)}
        onChange={(value) => setParams({ from: fromField(value) })}
      />
      <TimeField
        label={`${what} before`}
        value={toField(until)}
        onChange={(value) => setParams({ until: fromField(value) })}
      />
    </>
  );
}
