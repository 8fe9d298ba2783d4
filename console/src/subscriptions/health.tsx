// How the receivers of a subscription do, as a sentence; nothing where there is nothing to say.
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
      title={isOpen ? 'A receiver fails: deliveries wait' : 'A receiver fails'}
    >
      <p>
        {plural(failures, 'failure')} in a row
        {failingSince === undefined ? null : (
          <>
            , the first <Time at={failingSince} />
          </>
        )}
        .{' '}
        {isOpen
          ? 'It gets one delivery at a time until one succeeds. After five days it is disabled.'
          : 'Each delivery is tried again by its schedule.'}
      </p>
      {nextAttemptAt === undefined ? null : (
        <p>
          Next attempt: <Time at={nextAttemptAt} as="countdown" />.
        </p>
      )}
    </Notice>
  );
}
