// The fields of a new replay. Each is a query parameter.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ApiProblem } from '../api.ts';
import { NumberField, Select, SuggestField, TextField, TimeField } from '../components/field.tsx';
import { fromField, toField } from '../local-time.ts';
import { readResult, resultSuggestions, resultText } from '../deliveries/result-filter.ts';
import { setParams } from '../router.ts';
import { useEventSuggestions } from '../events/event-suggestions.ts';
import { rateDefault, rateError, rateMax, type FormValues } from './form-values.ts';

const states = [
  { value: 'dead', text: 'Dead' },
  { value: 'delivered', text: 'Delivered' },
  { value: 'cancelled', text: 'Cancelled' },
  { value: 'ended', text: 'All finished' },
];

export function FormFields({
  values,
  problem,
}: {
  readonly values: FormValues;
  readonly problem: ApiProblem | undefined;
}): JSX.Element {
  const errorOf: ErrorOf = (name) => sentence(problem?.of(`body#/filter/${name}`));
  return (
    <div class="replay-form">
      <Select
        label="Deliveries"
        value={values.state ?? 'dead'}
        options={states}
        onChange={(state) => set({ state })}
      />
      <SuggestField
        label="Event"
        hint="A name or a pattern. Leave empty for all events."
        value={values.event ?? ''}
        placeholder="order.*"
        isMono
        maxLength={256}
        options={useEventSuggestions()}
        error={errorOf('event')}
        onChange={(event) => set({ event: event.trim() })}
      />
      <OwnerFields values={values} errorOf={errorOf} />
      <ResultField values={values} />
      <TimeField
        label="Published from"
        hint="In your local time. Leave empty for no limit."
        value={toField(values.from)}
        error={errorOf('from')}
        onChange={(from) => set({ from: fromField(from) })}
      />
      <TimeField
        label="Published before"
        hint="Leave empty for now."
        value={toField(values.until)}
        error={errorOf('until')}
        onChange={(until) => set({ until: fromField(until) })}
      />
      <NumberField
        label="Rate limit"
        hint="Deliveries per second, 1 to 1000. Choose a rate that the receivers can handle."
        value={values.rate ?? String(rateDefault)}
        min={1}
        max={rateMax}
        error={rateError(values.rate)}
        onChange={(rate) => set({ rate })}
      />
    </div>
  );
}

type ErrorOf = (name: keyof FormValues) => string | undefined;

/** What the events are about, and whose subscriptions receive them. */
function OwnerFields({
  values,
  errorOf,
}: {
  readonly values: FormValues;
  readonly errorOf: ErrorOf;
}): JSX.Element {
  return (
    <>
      <TextField
        label="Subject"
        hint="Of the events. Leave empty for any."
        value={values.subject ?? ''}
        placeholder="job_17"
        isMono
        maxLength={256}
        error={errorOf('subject')}
        onChange={(subject) => set({ subject: subject.trim() })}
      />
      <TextField
        label="Customer"
        hint="Of the subscriptions. Leave empty for all."
        value={values.customer ?? ''}
        placeholder="cus_1"
        isMono
        maxLength={128}
        error={errorOf('customer')}
        onChange={(customer) => set({ customer: customer.trim() })}
      />
      <TextField
        label="Subscription"
        hint="Leave empty for all subscriptions."
        value={values.subscriberId ?? ''}
        placeholder="sub_…"
        isMono
        maxLength={64}
        error={errorOf('subscriberId')}
        onChange={(subscriberId) => set({ subscriberId: subscriberId.trim() })}
      />
    </>
  );
}

function set(changes: Partial<Record<keyof FormValues, string | undefined>>): void {
  setParams(changes, { replace: true });
}

function ResultField({ values }: { values: FormValues }): JSX.Element {
  const error = useSignal<string | undefined>(undefined);
  return (
    <SuggestField
      label="Status or error"
      hint="Result of the last attempt. Leave empty for any."
      value={resultText(values)}
      placeholder="5xx, timeout"
      maxLength={32}
      options={resultSuggestions}
      error={error.value}
      onChange={(text) => {
        const read = readResult(text);
        error.value =
          read === undefined
            ? 'Expected a status such as 404 or 5xx, or an error such as timeout.'
            : undefined;
        if (read !== undefined) set({ status: read.status, error: read.error });
      }}
    />
  );
}

function sentence(error: string | undefined): string | undefined {
  return error === undefined ? undefined : `The value ${error}.`;
}
