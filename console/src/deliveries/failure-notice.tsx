// The failure of a delivery with advice, above everything else.
import type { JSX } from 'preact';
import { Notice } from '../components/notice.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { plural } from '../format.ts';
import type { GetDeliveryAnswer as DeliveryWithAttempts } from '../../../src/client/contract/delivery.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { failureOf } from './failure-text.ts';
import { NextAttempt } from './next-attempt.tsx';

const tones = {
  dead: 'bad',
  cancelled: 'quiet',
  due: 'warn',
  running: 'warn',
  delivered: 'good',
} as const;

export function FailureNotice({
  delivery,
  subscription,
}: {
  readonly delivery: DeliveryWithAttempts;
  readonly subscription: Subscription | undefined;
}): JSX.Element {
  const failure = failureOf(delivery);
  return (
    <>
      {failure === undefined ? null : (
        <Notice tone={tones[delivery.state]} title={failure.title}>
          <p>
            <UntrustedText text={failure.happened} />
          </p>
          <dl class="fixes">
            <Fix who="Receiver" text={failure.receiver} />
            <Fix who="Ringback" text={failure.operator} />
          </dl>
          <RetryStatus delivery={delivery} />
        </Notice>
      )}
      {isPending(delivery) ? <PausedNotice subscription={subscription} /> : null}
    </>
  );
}

function Fix({ who, text }: { who: string; text: string }): JSX.Element {
  return (
    <div>
      <dt>{who}</dt>
      <dd>
        {text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}
      </dd>
    </div>
  );
}

function RetryStatus({ delivery }: { delivery: DeliveryWithAttempts }): JSX.Element | null {
  const { state, attempts, nextAttemptAt } = delivery;
  const count = attempts.length;
  switch (state) {
    case 'dead':
      return <p class="soft">Gave up after {plural(count, 'attempt')}.</p>;
    case 'running':
      return (
        <p class="soft">{plural(count, 'failed attempt')} so far. Another attempt is in flight.</p>
      );
    case 'due':
      return (
        <p class="soft">
          {plural(count, 'failed attempt')} so far. Next attempt{' '}
          {nextAttemptAt === undefined ? 'pending' : <NextAttempt at={nextAttemptAt} />}.
        </p>
      );
    case 'delivered':
    case 'cancelled':
      return null;
  }
}

function isPending({ state }: DeliveryWithAttempts): boolean {
  return state === 'due' || state === 'running';
}

/**
 * A pending delivery of an inactive subscription is not a failure, but the user should know what it
 * waits for.
 */
function PausedNotice({
  subscription,
}: {
  subscription: Subscription | undefined;
}): JSX.Element | null {
  if (subscription?.state !== 'paused' && subscription?.state !== 'disabled') return null;
  return (
    <Notice tone="info" title={`The subscription is ${subscription.state}`}>
      <p>
        Its deliveries stay pending until it is resumed.{' '}
        <a href={`/console/subscriptions?subscription=${subscription.id}`}>View subscription</a>
      </p>
    </Notice>
  );
}
