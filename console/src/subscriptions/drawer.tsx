// One subscription: callbacks, settings, secret, statistics, latest deliveries, and actions.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { StateBadge } from '../components/badge.tsx';
import { LinkButton } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { DeliveryList } from '../components/delivery-list.tsx';
import { Drawer } from '../components/dialog.tsx';
import { FanOut } from '../components/fan-out.tsx';
import { IdFact } from '../components/id-fact.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Fact, Facts, DrawerSection } from '../components/drawer-section.tsx';
import { NamedFacts } from '../components/subject-customer.tsx';
import { Time } from '../components/time.tsx';
import { useRelatedDeliveries } from '../related-deliveries.ts';
import { limits } from '../limits.ts';
import { useLoad } from '../load.ts';
import { can } from '../session.ts';
import type { Accepted } from '../../../src/client/contract/event.ts';
import type { Exchange, Subscription } from '../../../src/client/contract/subscription.ts';
import { useFrames } from '../stream.ts';
import { useThrottled } from '../throttle.ts';
import { SubscriptionActions } from './actions.tsx';
import { Callbacks } from './callbacks.tsx';
import { DayFigures } from './day-figures.tsx';
import { endText, isFixed } from './end.ts';
import { HealthNotice } from './health.tsx';
import { SecretPart } from './secret.tsx';
import { SettingsPart } from './settings.tsx';

export function SubscriptionDrawer({
  id,
  onChange,
  onClose,
}: {
  readonly id: string;
  readonly onChange: (changed: Subscription) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const load = useLoad(id, (signal) =>
    get<Subscription>(`/subscriptions/${encodeURIComponent(id)}`, { signal }),
  );
  const scheduleReload = useThrottled(load.reload, limits.refreshMs);
  useFrames(({ subscriptions, isReset }) => {
    if (isReset || subscriptions.includes(id)) scheduleReload();
  });
  const change = (changed: Subscription): void => {
    load.change(() => changed);
    onChange(changed);
  };
  return (
    <Drawer title="Subscription" onClose={onClose}>
      <Loaded load={load}>
        {(subscription) => <Shown subscription={subscription} onChange={change} />}
      </Loaded>
    </Drawer>
  );
}

function Shown({
  subscription,
  onChange,
}: {
  subscription: Subscription;
  onChange: (changed: Subscription) => void;
}): JSX.Element {
  const { id, state } = subscription;
  const ping = useSignal<Pinged | undefined>(undefined);
  const hasSecret = can('subscribe') && !isFixed(subscription);
  return (
    <>
      <Head subscription={subscription} />
      <StateNotice subscription={subscription} />
      <HealthNotice subscription={subscription} />
      <SubscriptionActions
        subscription={subscription}
        onChange={onChange}
        onPing={(accepted) => (ping.value = { accepted, wasInactive: state !== 'active' })}
      />
      {ping.value === undefined ? null : <Ping ping={ping.value} state={state} />}
      <Callbacks subscription={subscription} onChange={onChange} />
      <SettingsPart subscription={subscription} onChange={onChange} />
      <DayFigures id={id} />
      <Recent id={id} />
      {hasSecret ? <SecretPart subscription={subscription} /> : null}
    </>
  );
}

function Head({ subscription }: { subscription: Subscription }): JSX.Element {
  const { id, state, contract, operation, exchange, createdAt, endedAt } = subscription;
  return (
    <Facts>
      <Fact name="State">
        <StateBadge state={state} />
      </Fact>
      <IdFact id={id} />
      <NamedFacts {...subscription} />
      <Fact name="Contract">
        <UntrustedText text={contract} />, <UntrustedText text={operation} mono />
      </Fact>
      {exchange === undefined ? null : <ExchangeFact exchange={exchange} />}
      <Fact name="Created">
        <Time at={createdAt} />
      </Fact>
      {endedAt === undefined ? null : (
        <Fact name="Ended">
          <Time at={endedAt} />
        </Fact>
      )}
    </Facts>
  );
}

/** The request to an API that made it. */
function ExchangeFact({ exchange }: { exchange: Exchange }): JSX.Element {
  const { requestId, status } = exchange;
  return (
    <Fact name="Request">
      <span class="cluster">
        <UntrustedText text={requestId} mono />
        <CopyButton text={requestId} what="request ID" isBare />
        <span class="soft">
          {status === undefined ? 'no answer recorded' : `answered with ${status}`}
        </span>
      </span>
    </Fact>
  );
}

function StateNotice({ subscription }: { subscription: Subscription }): JSX.Element | null {
  switch (subscription.state) {
    case 'active':
      return null;
    case 'unconfirmed':
      return <UnconfirmedNotice subscription={subscription} />;
    case 'paused':
      return (
        <Notice tone="warn" title="Paused">
          <p>
            New events still create deliveries. They stay pending until the subscription is resumed.
          </p>
        </Notice>
      );
    case 'disabled':
      return (
        <Notice tone="bad" title="Disabled: the receiver failed for five days">
          <p>
            Fix the receiver or change its URL, then resume. Pending deliveries are sent on resume.
          </p>
        </Notice>
      );
    case 'ended':
      return (
        <Notice tone="quiet" title="Ended">
          <p>
            {endText(subscription.endReason)} The subscription receives no more events and cannot be
            resumed. Its pending deliveries were cancelled.
          </p>
        </Notice>
      );
  }
}

function UnconfirmedNotice({ subscription }: { subscription: Subscription }): JSX.Element {
  const { confirmBy, operation, exchange } = subscription;
  const answer =
    exchange?.status === undefined
      ? 'No answer was recorded, so it is not known whether the API accepted it.'
      : `The API answered with ${exchange.status}, but the subscription was not completed.`;
  return (
    <Notice tone="warn" title="Unconfirmed: receives no events yet">
      <p>
        It comes from a request to the API operation <UntrustedText text={operation} mono />.{' '}
        {answer}
      </p>
      <p>
        If the API accepted the request, confirm the subscription. Publishing to it, by its ID or
        its subject, confirms it, too.
        {confirmBy === undefined ? null : (
          <>
            {' '}
            Otherwise it ends <Time at={confirmBy} as="exact" />.
          </>
        )}
      </p>
    </Notice>
  );
}

/** A ping of an inactive subscription stays pending. */
type Pinged = { readonly accepted: Accepted; readonly wasInactive: boolean };

function Ping({ ping, state }: { ping: Pinged; state: Subscription['state'] }): JSX.Element {
  const { eventId, deliveries } = ping.accepted;
  return (
    <DrawerSection title="Ping">
      {ping.wasInactive && state !== 'active' ? (
        <p class="soft">The subscription is {state}. The ping stays pending until it is resumed.</p>
      ) : null}
      <FanOut key={eventId} eventId={eventId} expected={deliveries} />
    </DrawerSection>
  );
}

function Recent({ id }: { id: string }): JSX.Element {
  const list = useRelatedDeliveries({ subscriberId: id, limit: limits.recentItems });
  const all = (
    <LinkButton size="small" href={withQuery('/console/deliveries', { subscriberId: id })}>
      View all deliveries
    </LinkButton>
  );
  const { state } = list;
  return (
    <DrawerSection title="Latest deliveries" actions={all}>
      {state.kind === 'loading' ? <Skeleton rows={3} /> : null}
      {state.kind === 'failed' ? <Failed problem={state.problem} onRetry={list.reload} /> : null}
      {state.kind === 'ready' && list.items.length === 0 ? (
        <p class="soft">None yet. Send a ping to create one.</p>
      ) : null}
      {list.items.length === 0 ? null : (
        <DeliveryList items={list.items} label="Latest deliveries" shows="event" />
      )}
    </DrawerSection>
  );
}
