// The fields of the settings form. They hold no state; the form does.
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
  customer: { at: 'body#/customer' },
  expiresAt: { at: 'body#/expiresAt' },
  filter: { at: 'body#/filter' },
  rateLimit: { at: 'body#/rateLimit' },
  concurrency: { at: 'body#/concurrency' },
  timeout: { at: 'body#/timeout' },
  retry: { at: 'body#/retry', item: 'Delay' },
  headers: { at: 'body#/headers' },
} as const satisfies Record<string, FieldRule>;

export type FieldName = keyof typeof rules;

/** For the callback at this index in the request. */
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
      <p class="soft">Empty fields use the service defaults.</p>
      <TextField
        label="Description"
        value={values.description}
        placeholder="Orders for the warehouse"
        isFocused
        error={errorAt('description')}
        onInput={(description) => onChange({ description })}
      />
      <TextField
        label="Customer"
        hint="Whose it is. Leave empty for none: then it receives only events that name no customer."
        value={values.customer}
        placeholder="cus_1"
        isMono
        error={errorAt('customer')}
        onInput={(customer) => onChange({ customer })}
      />
      <EventFields {...props} />
      <DeliveryFields {...props} />
      <HeaderFields {...props} />
      <DrawerSection title="Expiry">
        <TimeField
          label="Expires at"
          hint="In your local time. Leave empty for no expiry."
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
    <DrawerSection title="Events">
      <div class="stack">
        {callbacks.map(({ position, label, url }) => (
          <TextField
            key={position}
            label={`Events of ${many ? `callback ${position + 1}, ` : ''}${visible(label)}`}
            hint={
              !many || url === undefined ? (
                'Event names or patterns, separated by spaces or commas. Put a name with spaces in quotes.'
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
          hint="Maps a JSON pointer to the value that the payload must have there, or to a list of allowed values."
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
    <DrawerSection title="Delivery">
      <div class="settings-grid">
        <TextField
          label="Attempts per second"
          hint="Across all callbacks: 0.001 to 1000."
          value={values.rateLimit}
          inputMode="decimal"
          error={errorAt('rateLimit')}
          onInput={(rateLimit) => onChange({ rateLimit })}
        />
        <TextField
          label="Concurrent attempts"
          hint="Per callback and node: 1 to 128."
          value={values.concurrency}
          inputMode="numeric"
          error={errorAt('concurrency')}
          onInput={(concurrency) => onChange({ concurrency })}
        />
        <TextField
          label="Timeout"
          hint="Per attempt: 100ms to 60s."
          value={values.timeout}
          placeholder="5s"
          error={errorAt('timeout')}
          onInput={(timeout) => onChange({ timeout })}
        />
        <TextField
          label="Retry delays"
          hint="Up to 20. “none” for a single attempt."
          value={values.retry}
          placeholder="5s, 5m, 2h"
          error={errorAt('retry')}
          onInput={(retry) => onChange({ retry })}
        />
      </div>
      <Checkbox
        label="Ordered"
        hint="Sends one delivery at a time, in publish order. A failing delivery holds back the next ones."
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
            Current headers: <UntrustedText text={headerNames.join(', ')} mono />. Their values are
            not shown.
          </p>
          <Checkbox
            label="Remove all headers"
            isChecked={values.removesHeaders}
            onChange={(removesHeaders) => onChange({ removesHeaders })}
          />
        </>
      )}
      {values.removesHeaders ? null : (
        <TextArea
          label={headerNames === undefined ? 'New headers' : 'Replacement headers'}
          hint={
            headerNames === undefined
              ? 'One per line. Sent in addition to the standard headers.'
              : 'One per line. They replace all current headers. Leave empty to keep those.'
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
