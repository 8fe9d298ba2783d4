// Why an endpoint gets no deliveries, since when, and what to do: from its health and its last failed delivery.
import type { ComponentChildren, JSX } from 'preact';
import type { GetDeliveryAnswer, Delivery } from '../../../src/client/contract/delivery.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { get } from '../../src/api.ts';
import { Button, LinkButton } from '../../src/components/button.tsx';
import { Notice } from '../../src/components/notice.tsx';
import { Time } from '../../src/components/time.tsx';
import type { Page } from '../../src/list.ts';
import { useLoad } from '../../src/load.ts';
import { FailureAdvice } from '../deliveries/failure-advice.tsx';
import { explain } from '../failure.ts';
import { t } from '../language.ts';
import { href } from '../route.ts';
import { can } from '../session.ts';
import { useActivate } from './actions.tsx';

type Props = {
  readonly endpoint: Subscription;
  readonly onChange: (changed: Subscription) => void;
};

export function HealthNotice({ endpoint, onChange }: Props): JSX.Element | null {
  const { state, health } = endpoint;
  const say = t().health;
  switch (state) {
    case 'active':
      return health === undefined || health.state === 'ok' ? null : <Failing endpoint={endpoint} />;
    case 'disabled':
      return (
        <Inactive title={say.disabledTitle} text={say.disabledText} tone="bad">
          <LastFailure endpoint={endpoint} />
          <ActivateButton endpoint={endpoint} onChange={onChange} text={say.activate} />
        </Inactive>
      );
    case 'paused':
      return (
        <Inactive title={say.pausedTitle} text={say.pausedText} tone="warn">
          <ActivateButton endpoint={endpoint} onChange={onChange} text={t().endpoint.resume} />
        </Inactive>
      );
    case 'unconfirmed':
      return <Inactive title={say.unconfirmedTitle} text={say.unconfirmedText} tone="warn" />;
    case 'ended':
      return <Inactive title={say.endedTitle} text={say.endedText} tone="quiet" />;
  }
}

function Inactive({
  title,
  text,
  tone,
  children,
}: {
  title: string;
  text: string;
  tone: 'bad' | 'warn' | 'quiet';
  children?: ComponentChildren;
}): JSX.Element {
  return (
    <Notice tone={tone} title={title}>
      <p>{text}</p>
      {children}
    </Notice>
  );
}

function ActivateButton({
  endpoint,
  onChange,
  text,
}: Props & { text: string }): JSX.Element | null {
  const act = useActivate({ endpoint, onChange });
  if (!can('manage')) return null;
  return (
    <p class="notice-actions">
      <Button kind="primary" icon="play" isBusy={act.isBusy} onClick={act.run}>
        {text}
      </Button>
    </p>
  );
}

function Failing({ endpoint }: { endpoint: Subscription }): JSX.Element {
  const { id, health } = endpoint;
  const say = t().health;
  const isOpen = health?.state === 'open';
  return (
    <Notice tone="bad" title={isOpen ? say.open : say.failing}>
      <p>
        {say.since(health?.failures ?? 0)}{' '}
        {health?.failingSince === undefined ? null : <Time at={health.failingSince} as="exact" />}.{' '}
        {isOpen ? say.probed : say.retried}
      </p>
      <LastFailure endpoint={endpoint} />
      {health?.nextAttemptAt === undefined ? null : (
        <p>
          {say.next}: <Time at={health.nextAttemptAt} as="countdown" />
        </p>
      )}
      {can('retry') ? (
        <p class="notice-actions">
          <LinkButton
            icon="replay"
            href={href('resend', { endpoint: id, since: health?.failingSince })}
          >
            {say.resend}
          </LinkButton>
        </p>
      ) : null}
    </Notice>
  );
}

/** The advice for the newest delivery that has failed. */
function LastFailure({ endpoint }: { endpoint: Subscription }): JSX.Element | null {
  const { id, health } = endpoint;
  // Each further failure may have another cause.
  const key = `${id} ${health?.failures ?? 0}`;
  const { value } = useLoad(key, async (signal) => lastFailed(id, signal));
  if (value === undefined) return null;
  const last = value.attempts.findLast(({ error }) => error !== undefined);
  return (
    <>
      <FailureAdvice failure={explain(last ?? value)} attempt={last} isTitled />
      <p>
        <a href={href(`deliveries/${value.id}`)}>{t().health.details}</a>
      </p>
    </>
  );
}

async function lastFailed(id: string, signal: AbortSignal): Promise<GetDeliveryAnswer | undefined> {
  const pages = await Promise.all(
    ['retrying', 'dead'].map(async (state) => {
      const query = { subscriberId: id, state, limit: 1 };
      return get<Page<Delivery>>('/deliveries', { query, signal });
    }),
  );
  // IDs grow with time.
  const ids = pages.flatMap(({ items }) => items.map((one) => one.id)).toSorted();
  const newest = ids.at(-1);
  return newest === undefined ? undefined : get(`/deliveries/${newest}`, { signal });
}
