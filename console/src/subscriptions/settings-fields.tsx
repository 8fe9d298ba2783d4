// The fields of the settings of a subscription. They keep nothing: what is typed belongs to the form.
import type { JSX } from 'preact';
import { Checkbox, TextArea, TextField, TimeField } from '../components/field.tsx';
import { Outside } from '../components/outside.tsx';
import { Part } from '../components/part.tsx';
import type { Subscription } from '../shapes.ts';
import { visible } from '../visible.ts';
import type { FieldRule } from './settings-faults.ts';
import { heard, type Wish } from './settings-wish.ts';

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
  readonly wish: Wish;
  readonly faultOf: (name: FieldName) => string | undefined;
  readonly eventsFaultOf: (position: number) => string | undefined;
  readonly onChange: (changed: Partial<Wish>) => void;
};

export function SettingsFields(props: FieldsProps): JSX.Element {
  const { wish, faultOf, onChange } = props;
  return (
    <>
      <p class="soft">What is empty is as the service is set.</p>
      <TextField
        label="Description"
        value={wish.description}
        placeholder="Orders for the warehouse"
        isFocused
        error={faultOf('description')}
        onInput={(description) => onChange({ description })}
      />
      <HearingFields {...props} />
      <SendingFields {...props} />
      <HeaderFields {...props} />
      <Part title="How long it lasts">
        <TimeField
          label="Ends by itself at"
          hint="Your own time. Empty: it does not end by itself."
          value={wish.expiresAt}
          error={faultOf('expiresAt')}
          onInput={(expiresAt) => onChange({ expiresAt })}
        />
      </Part>
    </>
  );
}

function HearingFields(props: FieldsProps): JSX.Element {
  const { subscription, wish, faultOf, eventsFaultOf, onChange } = props;
  const callbacks = heard(subscription.callbacks);
  const many = subscription.callbacks.length > 1;
  return (
    <Part title="What it hears">
      <div class="stack">
        {callbacks.map(({ position, label, url }) => (
          <TextField
            key={position}
            label={`Events of ${many ? `callback ${position + 1}, ` : ''}${visible(label)}`}
            hint={
              !many || url === undefined ? (
                'Names and prefixes, separated by spaces or commas.'
              ) : (
                <Outside text={url} mono clip />
              )
            }
            value={wish.events[position] ?? ''}
            placeholder="order.*, invoice.paid"
            isMono
            error={eventsFaultOf(position)}
            onInput={(text) => onChange({ events: { ...wish.events, [position]: text } })}
          />
        ))}
        <TextArea
          label="Filter (JSON)"
          hint="By JSON pointer: the value that the payload has there, or a list of which it has one."
          value={wish.filter}
          placeholder={'{"/order/country": ["DE", "AT"]}'}
          rows={Math.min(8, Math.max(3, wish.filter.split('\n').length))}
          error={faultOf('filter')}
          onInput={(filter) => onChange({ filter })}
        />
      </div>
    </Part>
  );
}

function SendingFields({ wish, faultOf, onChange }: FieldsProps): JSX.Element {
  return (
    <Part title="How it is sent">
      <div class="settings-grid">
        <TextField
          label="Attempts a second"
          hint="Over all callbacks: 0.001 to 1000."
          value={wish.rateLimit}
          inputMode="decimal"
          error={faultOf('rateLimit')}
          onInput={(rateLimit) => onChange({ rateLimit })}
        />
        <TextField
          label="Attempts at a time"
          hint="For each callback and node: 1 to 128."
          value={wish.concurrency}
          inputMode="numeric"
          error={faultOf('concurrency')}
          onInput={(concurrency) => onChange({ concurrency })}
        />
        <TextField
          label="Timeout"
          hint="Of an attempt: 100ms to 60s."
          value={wish.timeout}
          placeholder="5s"
          error={faultOf('timeout')}
          onInput={(timeout) => onChange({ timeout })}
        />
        <TextField
          label="Waits between attempts"
          hint="At most 20. “none”: one attempt only."
          value={wish.retry}
          placeholder="5s, 5m, 2h"
          error={faultOf('retry')}
          onInput={(retry) => onChange({ retry })}
        />
      </div>
      <Checkbox
        label="Ordered"
        hint="One delivery after the other, in the order of their events. While one fails, the next ones wait."
        isChecked={wish.ordered}
        onChange={(ordered) => onChange({ ordered })}
      />
    </Part>
  );
}

function HeaderFields({ subscription, wish, faultOf, onChange }: FieldsProps): JSX.Element {
  const { headerNames } = subscription;
  return (
    <Part title="Headers">
      {headerNames === undefined ? null : (
        <>
          <p>
            Carried now: <Outside text={headerNames.join(', ')} mono />. What they say is not shown.
          </p>
          <Checkbox
            label="Remove all headers"
            isChecked={wish.dropsHeaders}
            onChange={(dropsHeaders) => onChange({ dropsHeaders })}
          />
        </>
      )}
      {wish.dropsHeaders ? null : (
        <TextArea
          label={headerNames === undefined ? 'New headers' : 'Headers in their place'}
          hint={
            headerNames === undefined
              ? 'One on each line. Callbacks carry them besides ours.'
              : 'One on each line. They replace all of them; empty: they stay.'
          }
          value={wish.headers}
          placeholder="Authorization: Bearer …"
          rows={3}
          error={faultOf('headers')}
          onInput={(headers) => onChange({ headers })}
        />
      )}
    </Part>
  );
}
