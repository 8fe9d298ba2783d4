// The settings of a subscription that differ from the service defaults.
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { Button } from '../components/button.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Fact, Facts, DrawerSection } from '../components/drawer-section.tsx';
import { Time } from '../components/time.tsx';
import { plural } from '../format.ts';
import { limits } from '../limits.ts';
import { can } from '../session.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { isFixed } from './end.ts';
import { filterValues, valueText } from './filter-text.ts';
import { ChangeSettings } from './settings-form.tsx';

type SettingsProps = {
  readonly subscription: Subscription;
  readonly onChange: (changed: Subscription) => void;
};

export function SettingsPart({ subscription, onChange }: SettingsProps): JSX.Element {
  const isChanging = useSignal(false);
  const mayChange = can('subscribe') && !isFixed(subscription);
  const rows = rowsOf(subscription);
  return (
    <DrawerSection
      title="Settings"
      actions={
        mayChange ? (
          <Button size="small" onClick={() => (isChanging.value = true)}>
            Change settings
          </Button>
        ) : null
      }
    >
      {rows.length === 0 ? (
        <p class="soft">No overrides. This subscription uses the service defaults.</p>
      ) : (
        <Facts>
          {rows.map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
        </Facts>
      )}
      {isChanging.value ? (
        <ChangeSettings
          subscription={subscription}
          onChange={onChange}
          onClose={() => (isChanging.value = false)}
        />
      ) : null}
    </DrawerSection>
  );
}

type Row = readonly [name: string, value: ComponentChildren];

function rowsOf(subscription: Subscription): readonly Row[] {
  const { description, filter, headerNames, expiresAt, metadata, state } = subscription;
  return [
    ...row('Description', description, (text) => <UntrustedText text={text} />),
    ...row('Filter', filter, (rules) => <FilterLines filter={rules} />),
    ...paceRows(subscription),
    ...row('Headers', headerNames, (names) => <UntrustedText text={names.join(', ')} mono />),
    ...row('Signing', subscription.signing, (signing) =>
      signing === 'ed25519' ? 'Ed25519: receivers verify with a public key' : 'HMAC',
    ),
    ...row('Expires', expiresAt, (at) => <Expiry at={at} isOver={state === 'ended'} />),
    ...row('Metadata', metadata, (texts) => <MetadataLines metadata={texts} />),
  ];
}

/** Settings that control the pace of delivery. */
function paceRows(subscription: Subscription): readonly Row[] {
  const { rateLimit, concurrency, ordered, timeout, retry } = subscription;
  return [
    ...row(
      'Rate limit',
      rateLimit,
      (rate) => `${rate} ${rate === 1 ? 'attempt' : 'attempts'} per second`,
    ),
    ...row(
      'Concurrency',
      concurrency,
      (size) => `${plural(size, 'concurrent attempt')} per callback and node`,
    ),
    ...row('Ordered', ordered || undefined, () => 'One delivery at a time, in publish order'),
    ...row('Timeout', timeout, (text) => `${text} per attempt`),
    ...row('Retry', retry, (delays) =>
      delays.length === 0
        ? 'Single attempt, no retries'
        : `After ${delays.join(', ')} (${delays.length + 1} attempts in total)`,
    ),
  ];
}

function row<T>(
  name: string,
  value: T | null | undefined,
  shown: (value: T) => ComponentChildren,
): readonly Row[] {
  return value === undefined || value === null ? [] : [[name, shown(value)]];
}

function Expiry({ at, isOver }: { at: string; isOver: boolean }): JSX.Element {
  if (isOver) return <Time at={at} as="exact" />;
  return (
    <>
      <Time at={at} as="countdown" />{' '}
      <span class="soft">
        (<Time at={at} as="exact" />)
      </span>
    </>
  );
}

function FilterLines({ filter }: { filter: NonNullable<Subscription['filter']> }): JSX.Element {
  return (
    <>
      {Object.entries(filter).map(([pointer, allowed], at) => (
        <p key={pointer}>
          {at === 0 ? '' : 'and '}
          {pointer === '' ? 'the payload' : <UntrustedText text={pointer} mono />} is{' '}
          <Values values={filterValues(allowed)} />
        </p>
      ))}
    </>
  );
}

function Values({ values }: { values: readonly unknown[] }): JSX.Element {
  const shown = values.slice(0, limits.filterValuesShown);
  const more = values.length - shown.length;
  return (
    <>
      {shown.map((value, at) => (
        <span key={at}>
          {at === 0 ? '' : ' or '}
          <UntrustedText text={valueText(value)} mono />
        </span>
      ))}
      {more === 0 ? null : <span class="soft"> or one of {more} more</span>}
    </>
  );
}

function MetadataLines({
  metadata,
}: {
  metadata: NonNullable<Subscription['metadata']>;
}): JSX.Element {
  return (
    <>
      {Object.entries(metadata).map(([name, text]) => (
        <p key={name}>
          <span class="soft">
            <UntrustedText text={name} mono />:
          </span>{' '}
          <UntrustedText text={text} />
        </p>
      ))}
    </>
  );
}
