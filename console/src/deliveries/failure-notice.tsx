// The failure of a delivery as a sentence with a fix, above everything else.
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
            <Fix who="At the receiver" text={failure.receiver} />
            <Fix who="Here" text={failure.operator} />
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
  const tries = plural(attempts.length, 'attempt');
  switch (state) {
    case 'dead':
      return <p class="soft">Given up after {tries}.</p>;
    case 'running':
      return <p class="soft">{tries} failed so far; another one is under way.</p>;
    case 'due':
      return (
        <p class="soft">
          {tries} failed so far; the next one comes{' '}
          {nextAttemptAt === undefined ? 'soon' : <NextAttempt at={nextAttemptAt} />}.
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

/** Waiting is no failure, but somebody should know what it waits for. */
function PausedNotice({
  subscription,
}: {
  subscription: Subscription | undefined;
}): JSX.Element | null {
  if (subscription?.state !== 'paused' && subscription?.state !== 'disabled') return null;
  return (
    <Notice tone="info" title={`The subscription is ${subscription.state}`}>
      <p>
        Nothing is sent until it is resumed.{' '}
        <a href={`/console/subscriptions?subscription=${subscription.id}`}>
          Go to the subscription
        </a>
      </p>
    </Notice>
  );
}
