// The health of the receivers of a subscription; nothing if there is nothing to report.
import type { JSX } from 'preact';
import { Notice } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { plural } from '../format.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';

export function HealthNotice({ subscription }: { subscription: Subscription }): JSX.Element | null {
  const { state, health } = subscription;
  if (state !== 'active' || health === undefined || health.state === 'ok') return null;
  const { failures, failingSince, nextAttemptAt } = health;
  const isOpen = health.state === 'open';
  return (
    <Notice
      tone={isOpen ? 'bad' : 'warn'}
      title={isOpen ? 'Receiver failing: deliveries are held back' : 'Receiver failing'}
    >
      <p>
        {plural(failures, 'consecutive failure')}
        {failingSince === undefined ? null : (
          <>
            , first <Time at={failingSince} />
          </>
        )}
        .{' '}
        {isOpen
          ? 'The receiver gets one delivery at a time until one succeeds. After five days without success the subscription is disabled.'
          : 'Deliveries are retried on schedule.'}
      </p>
      {nextAttemptAt === undefined ? null : (
        <p>
          Next attempt: <Time at={nextAttemptAt} as="countdown" />.
        </p>
      )}
    </Notice>
  );
}
