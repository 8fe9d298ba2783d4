// Onboarding: subscribe, send, view. Each step has a button that performs it.
import './first-steps.css';
import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { useAction } from '../action.ts';
import { get, newIdempotencyKey, send } from '../api.ts';
import { shownState, StateBadge } from '../components/badge.tsx';
import { Button, LinkButton } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Failed, Skeleton } from '../components/list-states.tsx';
import { Notice, ProblemNotice } from '../components/notice.tsx';
import { Section } from '../components/page.tsx';
import { useLoad } from '../load.ts';
import { can } from '../session.ts';
import type { Accepted } from '../../../src/client/contract/event.ts';
import type { Contract } from '../../../src/client/contract/service.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { EventType } from '../events/event-types.ts';
import type { Page } from '../list.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { testEvent } from '../test-event.ts';
import { FirstSubscription } from './first-subscription.tsx';

type SetupState = {
  readonly subscription: Subscription | undefined;
  readonly contracts: readonly Contract[];
  readonly types: readonly EventType[];
};

export function FirstSteps({ latest }: { latest: readonly Delivery[] }): JSX.Element {
  const setup = useLoad('setup', readSetup);
  const sentId = useSignal<string | undefined>(undefined);
  const { state } = setup;
  if (state.kind === 'loading') return <Skeleton rows={4} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={setup.reload} />;
  const { subscription, contracts } = state.value;
  return (
    <Section title="Get your first delivery">
      <ol class="steps">
        <OneStep number={1} title="Subscribe" isDone={subscription !== undefined}>
          <SubscribeStep subscription={subscription} contracts={contracts} onDone={setup.reload} />
        </OneStep>
        <OneStep number={2} title="Send" isDone={sentId.value !== undefined}>
          <SendStep
            setup={state.value}
            isSent={sentId.value !== undefined}
            onSent={(id) => (sentId.value = id)}
          />
        </OneStep>
        <OneStep number={3} title="View" isDone={latest.length > 0}>
          <ViewStep sentId={sentId.value} latest={latest} />
        </OneStep>
      </ol>
    </Section>
  );
}

function OneStep({
  number,
  title,
  isDone,
  children,
}: {
  number: number;
  title: string;
  isDone: boolean;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <li class={isDone ? 'done' : ''}>
      <h3>
        <span class="step-number">{isDone ? <Icon name="check" /> : number}</span>
        {title}
        {isDone ? <span class="off-screen">, done</span> : null}
      </h3>
      {children}
    </li>
  );
}

function SubscribeStep({
  subscription,
  contracts,
  onDone,
}: Omit<SetupState, 'types'> & { onDone: () => void }): JSX.Element {
  if (!can('subscribe')) return <NeedsScope scope="subscribe" />;
  return <FirstSubscription subscription={subscription} contracts={contracts} onDone={onDone} />;
}

function SendStep({
  setup,
  isSent,
  onSent,
}: {
  setup: SetupState;
  isSent: boolean;
  onSent: (eventId: string) => void;
}): JSX.Element {
  const test = testEvent(setup.types, setup.subscription);
  // A lost response is retried with the same key; the next event gets a new one.
  const key = useRef(newIdempotencyKey());
  const publish = useAction(
    async () => {
      const accepted = await send<Accepted>('POST', '/events', {
        body: test,
        idempotencyKey: key.current,
      });
      key.current = newIdempotencyKey();
      onSent(accepted.eventId);
    },
    { quiet: true },
  );
  if (!can('publish')) return <NeedsScope scope="publish" />;
  return (
    <>
      <p class="soft">
        Publishes <code>{test.event}</code> with the example payload of the contract, to this
        subscription only.
      </p>
      <Button
        kind={setup.subscription === undefined || isSent ? 'plain' : 'primary'}
        icon="event"
        isDisabled={setup.subscription === undefined}
        isBusy={publish.isBusy}
        onClick={publish.run}
      >
        Send test event
      </Button>
      {publish.problem === undefined ? null : <ProblemNotice problem={publish.problem} />}
    </>
  );
}

function ViewStep({
  sentId,
  latest,
}: {
  sentId: string | undefined;
  latest: readonly Delivery[];
}): JSX.Element {
  const delivery = latest.find((one) => one.eventId === sentId) ?? latest[0];
  if (delivery === undefined) {
    return (
      <p class="soft" role="status">
        {sentId === undefined
          ? 'The delivery appears here when it is created.'
          : 'Event published. Waiting for its delivery…'}
      </p>
    );
  }
  return (
    <>
      <p role="status" class="cluster">
        <StateBadge state={shownState(delivery)} /> <code>{delivery.event}</code>
      </p>
      <LinkButton kind="primary" href={`/console/deliveries?delivery=${delivery.id}`}>
        View delivery
      </LinkButton>
    </>
  );
}

function NeedsScope({ scope }: { scope: string }): JSX.Element {
  return (
    <Notice tone="quiet">
      <p>
        This key does not have the <code>{scope}</code> scope.
      </p>
    </Notice>
  );
}

async function readSetup(signal: AbortSignal): Promise<SetupState> {
  const [subscriptions, contracts, types] = await Promise.all([
    get<Page<Subscription>>('/subscriptions', { query: { state: 'active', limit: 1 }, signal }),
    get<{ items: readonly Contract[] }>('/contracts', { signal }),
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  ]);
  return {
    subscription: subscriptions.items[0],
    contracts: contracts.items,
    types: types.items,
  };
}
