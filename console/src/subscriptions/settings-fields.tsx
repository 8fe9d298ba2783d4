// The fields of the settings of a subscription. They keep nothing: what is typed belongs to the form.
import type { JSX } from 'preact';
import { Checkbox, TextArea, TextField, TimeField } from '../components/field.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { DrawerSection } from '../components/drawer-section.tsx';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { visible } from '../hidden-characters.ts';
import type { FieldRule } from './settings-errors.ts';
import { activeCallbacks, type SettingsValues } from './settings-values.ts';

export const rules = {
  description: { at: 'body#/description' },
  expiresAt: { at: 'body#/expiresAt' },
  filter: { at: 'body#/filter' },
  rateLimit: { at: 'body#/rateLimit' },
  concurrency: { at: 'body#/concurrency' },
  timeout: { at: 'body#/timeout' },
  retry: { at: 'body#/retry', item: 'Wait' },
  headers: { at: 'body#/headers' },
} as const satisfies Record<string, FieldRule>;

export type FieldName = keyof typeof rules;

/** Of the callback that is so far in the request. */
export function eventsRule(at: number): FieldRule {
  return { at: `body#/callbacks/${at}/events`, item: 'Pattern' };
}

type FieldsProps = {
  readonly subscription: Subscription;
  readonly values: SettingsValues;
  readonly errorAt: (name: FieldName) => string | undefined;
  readonly eventsErrorAt: (position: number) => string | undefined;
  readonly onChange: (changed: Partial<SettingsValues>) => void;
};

export function SettingsFields(props: FieldsProps): JSX.Element {
  const { values, errorAt, onChange } = props;
  return (
    <>
      <p class="soft">What is empty is as the service is set.</p>
      <TextField
        label="Description"
        value={values.description}
        placeholder="Orders for the warehouse"
        isFocused
        error={errorAt('description')}
        onInput={(description) => onChange({ description })}
      />
      <EventFields {...props} />
      <DeliveryFields {...props} />
      <HeaderFields {...props} />
      <DrawerSection title="How long it lasts">
        <TimeField
          label="Ends by itself at"
          hint="Your own time. Empty: it does not end by itself."
          value={values.expiresAt}
          error={errorAt('expiresAt')}
          onInput={(expiresAt) => onChange({ expiresAt })}
        />
      </DrawerSection>
    </>
  );
}

function EventFields(props: FieldsProps): JSX.Element {
  const { subscription, values, errorAt, eventsErrorAt, onChange } = props;
  const callbacks = activeCallbacks(subscription.callbacks);
  const many = subscription.callbacks.length > 1;
  return (
    <DrawerSection title="What it hears">
      <div class="stack">
        {callbacks.map(({ position, label, url }) => (
          <TextField
            key={position}
            label={`Events of ${many ? `callback ${position + 1}, ` : ''}${visible(label)}`}
            hint={
              !many || url === undefined ? (
                'Names and prefixes, separated by spaces or commas.'
              ) : (
                <UntrustedText text={url} mono clip />
              )
            }
            value={values.events[position] ?? ''}
            placeholder="order.*, invoice.paid"
            isMono
            error={eventsErrorAt(position)}
            onInput={(text) => onChange({ events: { ...values.events, [position]: text } })}
          />
        ))}
        <TextArea
          label="Filter (JSON)"
          hint="By JSON pointer: the value that the payload has there, or a list of which it has one."
          value={values.filter}
          placeholder={'{"/order/country": ["DE", "AT"]}'}
          rows={Math.min(8, Math.max(3, values.filter.split('\n').length))}
          error={errorAt('filter')}
          onInput={(filter) => onChange({ filter })}
        />
      </div>
    </DrawerSection>
  );
}

function DeliveryFields({ values, errorAt, onChange }: FieldsProps): JSX.Element {
  return (
    <DrawerSection title="How it is sent">
      <div class="settings-grid">
        <TextField
          label="Attempts a second"
          hint="Over all callbacks: 0.001 to 1000."
          value={values.rateLimit}
          inputMode="decimal"
          error={errorAt('rateLimit')}
          onInput={(rateLimit) => onChange({ rateLimit })}
        />
        <TextField
          label="Attempts at a time"
          hint="For each callback and node: 1 to 128."
          value={values.concurrency}
          inputMode="numeric"
          error={errorAt('concurrency')}
          onInput={(concurrency) => onChange({ concurrency })}
        />
        <TextField
          label="Timeout"
          hint="Of an attempt: 100ms to 60s."
          value={values.timeout}
          placeholder="5s"
          error={errorAt('timeout')}
          onInput={(timeout) => onChange({ timeout })}
        />
        <TextField
          label="Waits between attempts"
          hint="At most 20. “none”: one attempt only."
          value={values.retry}
          placeholder="5s, 5m, 2h"
          error={errorAt('retry')}
          onInput={(retry) => onChange({ retry })}
        />
      </div>
      <Checkbox
        label="Ordered"
        hint="One delivery after the other, in the order of their events. While one fails, the next ones wait."
        isChecked={values.ordered}
        onChange={(ordered) => onChange({ ordered })}
      />
    </DrawerSection>
  );
}

function HeaderFields({ subscription, values, errorAt, onChange }: FieldsProps): JSX.Element {
  const { headerNames } = subscription;
  return (
    <DrawerSection title="Headers">
      {headerNames === undefined ? null : (
        <>
          <p>
            Carried now: <UntrustedText text={headerNames.join(', ')} mono />. What they say is not
            shown.
          </p>
          <Checkbox
            label="Remove all headers"
            isChecked={values.dropsHeaders}
            onChange={(dropsHeaders) => onChange({ dropsHeaders })}
          />
        </>
      )}
      {values.dropsHeaders ? null : (
        <TextArea
          label={headerNames === undefined ? 'New headers' : 'Headers in their place'}
          hint={
            headerNames === undefined
              ? 'One on each line. Callbacks carry them besides ours.'
              : 'One on each line. They replace all of them; empty: they stay.'
          }
          value={values.headers}
          placeholder="Authorization: Bearer …"
          rows={3}
          error={errorAt('headers')}
          onInput={(headers) => onChange({ headers })}
        />
      )}
    </DrawerSection>
  );
}
