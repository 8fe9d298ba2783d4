// The history of a delivery and its next step, in order.
import type { ComponentChildren, JSX } from 'preact';
import { Button } from '../components/button.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Time } from '../components/time.tsx';
import { duration } from '../format.ts';
import { outcomeLabel } from '../outcome-label.ts';
import { setParams } from '../router.ts';
import type {
  Attempt,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../../src/client/contract/delivery.ts';
import { attemptNumber } from './attempt-select.tsx';
import { NextAttempt } from './next-attempt.tsx';
import { failureSentence } from './failure-text.ts';

export function Timeline({ delivery }: { delivery: DeliveryWithAttempts }): JSX.Element {
  return (
    <ol class="timeline">
      <TimelineItem icon="event" tone="quiet" title="Published" at={delivery.createdAt} />
      {delivery.attempts.map((attempt) => (
        <AttemptItem key={attempt.id} attempt={attempt} />
      ))}
      <Next delivery={delivery} />
    </ol>
  );
}

function AttemptItem({ attempt }: { attempt: Attempt }): JSX.Element {
  const isFailed = attempt.error !== undefined;
  const number = attemptNumber(attempt);
  return (
    <TimelineItem
      icon={isFailed ? 'close' : 'check'}
      tone={isFailed ? 'bad' : 'good'}
      title={`Attempt ${number}: ${outcomeLabel(attempt) ?? 'no response'}`}
      at={attempt.startedAt}
      note={`took ${duration(attempt.tookMs)}`}
    >
      {isFailed ? (
        <p>
          <UntrustedText text={failureSentence(attempt)} />
        </p>
      ) : null}
      <Button
        size="small"
        label={`Show attempt ${number}`}
        onClick={() => setParams({ attempt: number, tab: 'response' })}
      >
        Show
      </Button>
    </TimelineItem>
  );
}

function Next({ delivery }: { delivery: DeliveryWithAttempts }): JSX.Element {
  const { state, nextAttemptAt, endedAt, attempts } = delivery;
  const number = attempts.length + 1;
  switch (state) {
    case 'running':
      return <TimelineItem icon="running" tone="info" title={`Attempt ${number}: in flight`} />;
    case 'due':
      return (
        <TimelineItem icon="clock" tone="info" title={`Attempt ${number}: scheduled`}>
          {nextAttemptAt === undefined ? null : (
            <p>
              <NextAttempt at={nextAttemptAt} /> (<Time at={nextAttemptAt} as="exact" />)
            </p>
          )}
        </TimelineItem>
      );
    case 'delivered':
    case 'dead':
    case 'cancelled': {
      const { icon, tone, title } = ends[state];
      return <TimelineItem icon={icon} tone={tone} title={title} at={endedAt} />;
    }
  }
}

const ends = {
  delivered: { icon: 'check', tone: 'good', title: 'Delivered' },
  dead: { icon: 'close', tone: 'bad', title: 'Dead: no further attempts' },
  cancelled: { icon: 'dash', tone: 'quiet', title: 'Cancelled: the subscription ended' },
} as const;

function TimelineItem({
  icon,
  tone,
  title,
  at,
  note,
  children,
}: {
  readonly icon: IconName;
  readonly tone: string;
  readonly title: string;
  readonly at?: string | undefined;
  readonly note?: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <li class={`moment ${tone}`}>
      <span class="moment-icon">
        <Icon name={icon} />
      </span>
      <div>
        <p class="moment-title">{title}</p>
        {at === undefined ? null : (
          <p class="soft">
            <Time at={at} as="exact" />
            {note === undefined ? '' : ` · ${note}`}
          </p>
        )}
        {children}
      </div>
    </li>
  );
}
