// The subscribe form for the three variants of the built-in contract.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../action.ts';
import { newIdempotencyKey, send, type ApiProblem, type SendOptions } from '../api.ts';
import { Button } from '../components/button.tsx';
import { RadioGroup, type RadioOption } from '../components/radio-group.tsx';
import { TextField } from '../components/field.tsx';
import { ProblemNotice } from '../components/notice.tsx';
import type { Subscribed } from '../../../src/client/contract/subscription.ts';
import { messageFor } from './problem-message.ts';

type Variant = 'body' | 'query' | 'multi';

const ways: readonly RadioOption<Variant>[] = [
  { value: 'body', text: 'One URL for every event', hint: 'Receives every published event.' },
  { value: 'query', text: 'One URL for one event', hint: 'Receives events with one name.' },
  {
    value: 'multi',
    text: 'Separate URLs for progress, failure and success',
    hint: 'Receives the events inProgress, failed and success, each at its own URL. At least one is required.',
  },
];

type FieldRow = {
  readonly name: string;
  readonly label: string;
  /** The field name in an error of the service. */
  readonly field: string;
  readonly placeholder: string;
  readonly hint?: string;
};

/** A setting of the subscription, in every variant. */
const customerRow: FieldRow = {
  name: 'customer',
  label: 'Customer',
  field: 'body#/x-ringback/customer',
  placeholder: 'cus_1',
  hint: 'Whose it is, by a name of your choice. Optional.',
};

const fieldsOf: Readonly<Record<Variant, readonly FieldRow[]>> = {
  body: [row('callbackUrl', 'Callback URL', 'body#/callbackUrl')],
  query: [
    row('callbackUrl', 'Callback URL', 'query.callbackUrl'),
    { ...row('event', 'Event', 'query.event'), placeholder: 'order.created' },
  ],
  multi: [
    row('inProgressUrl', 'URL for inProgress', 'body#/inProgressUrl'),
    row('failedUrl', 'URL for failed', 'body#/failedUrl'),
    row('successUrl', 'URL for success', 'body#/successUrl'),
  ],
};

export function SubscribeForm({
  onMade,
  onClose,
}: {
  readonly onMade: (subscribed: Subscribed) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const variant = useSignal<Variant>('body');
  const values = useSignal<Readonly<Record<string, string>>>({});
  const key = useRef(newIdempotencyKey());
  const rows = [...fieldsOf[variant.value], customerRow];
  const act = useAction(
    async () => {
      const options = sendOptions(variant.value, values.value);
      const idempotencyKey = key.current;
      onMade(await send<Subscribed>('POST', '/subscribe', { ...options, idempotencyKey }));
    },
    { quiet: true },
  );
  const set = (name: string, value: string): void => {
    values.value = { ...values.value, [name]: value };
    // A changed request must not reuse the idempotency key.
    key.current = newIdempotencyKey();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    act.run();
  };
  return (
    <form class="stack" onSubmit={submit}>
      <RadioGroup
        label="Events"
        ways={ways}
        chosen={variant.value}
        onChoose={(chosen) => {
          variant.value = chosen;
          key.current = newIdempotencyKey();
        }}
      />
      {rows.map(({ name, label, field, placeholder, hint }) => (
        <TextField
          key={name}
          label={label}
          value={values.value[name] ?? ''}
          isMono
          isRequired={variant.value !== 'multi' && name !== customerRow.name}
          placeholder={placeholder}
          hint={hint}
          error={act.problem?.of(field) === undefined ? undefined : messageFor(act.problem, field)}
          onInput={(value) => set(name, value)}
        />
      ))}
      <Rest problem={act.problem} rows={rows} />
      <div class="form-actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" type="submit" isBusy={act.isBusy}>
          Subscribe
        </Button>
      </div>
    </form>
  );
}

/** Problems that belong to none of the fields. */
function Rest({
  problem,
  rows,
}: {
  readonly problem: ApiProblem | undefined;
  readonly rows: readonly FieldRow[];
}): JSX.Element | null {
  if (problem === undefined || rows.some(({ field }) => problem.of(field) !== undefined)) {
    return null;
  }
  return <ProblemNotice problem={problem} />;
}

function sendOptions(variant: Variant, values: Readonly<Record<string, string>>): SendOptions {
  const given = fieldsOf[variant].flatMap(({ name }): [string, string][] => {
    const value = values[name]?.trim() ?? '';
    return value === '' ? [] : [[name, value]];
  });
  const fields = Object.fromEntries(given);
  const customer = values[customerRow.name]?.trim() ?? '';
  const settings = customer === '' ? {} : { 'x-ringback': { customer } };
  if (variant !== 'query') return { body: { ...fields, ...settings } };
  return customer === '' ? { query: fields } : { query: fields, body: settings };
}

function row(name: string, label: string, field: string): FieldRow {
  return { name, label, field, placeholder: 'https://receiver.example/hook' };
}
