// The filters of the audit trail.
import type { JSX } from 'preact';
import { Select, TextField } from '../components/field.tsx';
import { CustomerField, FilterBar, TimeFilters } from '../components/filter-bar.tsx';
import { param, setParams } from '../router.ts';
import { auditActions } from '../../../src/core/domain/audit.ts';
import { actionText } from './action-text.ts';

export type AuditFilter = {
  readonly action: string | undefined;
  readonly object: string | undefined;
  readonly key: string | undefined;
  readonly customer: string | undefined;
  readonly from: string | undefined;
  readonly until: string | undefined;
};

/** Removes every filter, for setParams and links. */
export const noFilter = {
  action: undefined,
  object: undefined,
  key: undefined,
  customer: undefined,
  from: undefined,
  until: undefined,
} as const;

export function readFilter(): AuditFilter {
  return {
    action: param('action'),
    object: param('object'),
    key: param('key'),
    customer: param('customer'),
    from: param('from'),
    until: param('until'),
  };
}

export function AuditFilters({
  filter,
  isFiltered,
}: {
  readonly filter: AuditFilter;
  readonly isFiltered: boolean;
}): JSX.Element {
  return (
    <FilterBar what="the audit trail" cleared={isFiltered ? noFilter : undefined}>
      <Select
        label="Action"
        value={filter.action ?? ''}
        options={[
          { value: '', text: 'Any action' },
          ...auditActions.map((value) => ({ value, text: actionText(value) })),
        ]}
        onChange={(action) => setParams({ action })}
      />
      <TextField
        label="Object"
        value={filter.object ?? ''}
        placeholder="sub_…"
        isMono
        maxLength={256}
        onChange={(object) => setParams({ object: object.trim() })}
      />
      <TextField
        label="By key"
        value={filter.key ?? ''}
        placeholder="rbk_…"
        isMono
        // A pasted key stands for its ID. The secret part must not end up in the address bar.
        onChange={(key) => setParams({ key: key.trim().slice(0, keyIdChars) })}
      />
      <CustomerField value={filter.customer} />
      <TimeFilters from={filter.from} until={filter.until} what="Changed" />
    </FilterBar>
  );
}

const keyIdChars = 12;
