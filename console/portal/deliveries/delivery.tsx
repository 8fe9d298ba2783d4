// One delivery: why it failed and what to do, its attempts with request and response, and resending it.
import type { JSX } from 'preact';
import type { GetDeliveryAnswer } from '../../../src/client/contract/delivery.ts';
import { useAction } from '../../src/action.ts';
import { get, send } from '../../src/api.ts';
import { Button } from '../../src/components/button.tsx';
import { CopyButton } from '../../src/components/copy-button.tsx';
import { Fact, Facts } from '../../src/components/drawer-section.tsx';
import { Loaded } from '../../src/components/loaded.tsx';
import { Notice } from '../../src/components/notice.tsx';
import { PageHeader, Section } from '../../src/components/page.tsx';
import { Time } from '../../src/components/time.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { visible } from '../../src/hidden-characters.ts';
import { useLoad } from '../../src/load.ts';
import { toastSuccess } from '../../src/toasts.ts';
import { BackLink } from '../back-link.tsx';
import { failureOf } from '../failure.ts';
import { t } from '../language.ts';
import { usePolling } from '../poll.ts';
import { Prose } from '../prose.tsx';
import { go, href } from '../route.ts';
import { can } from '../session.ts';
import { DeliveryBadge } from '../state-badge.tsx';
import { Attempts } from './attempts.tsx';
import { FailureAdvice } from './failure-advice.tsx';

export function DeliveryPage({ id }: { readonly id: string }): JSX.Element {
  const load = useLoad(id, (signal) =>
    get<GetDeliveryAnswer>(`/deliveries/${encodeURIComponent(id)}`, { signal }),
  );
  const state = load.value?.state;
  usePolling(load.reload, { everyMs: 2_000, isOn: state === 'due' || state === 'running' });
  return (
    <>
      <BackLink to="deliveries" />
      <Loaded load={load}>
        {(delivery) => <Shown delivery={delivery} onChange={load.reload} />}
      </Loaded>
    </>
  );
}

type Props = { readonly delivery: GetDeliveryAnswer; readonly onChange: () => void };

function Shown({ delivery, onChange }: Props): JSX.Element {
  return (
    <>
      <PageHeader
        title={visible(delivery.event)}
        note={
          <span role="status">
            <DeliveryBadge delivery={delivery} />
          </span>
        }
      >
        {can('retry') ? <ResendButton delivery={delivery} onChange={onChange} /> : undefined}
      </PageHeader>
      <div class="stack">
        <FailureNotice delivery={delivery} />
        <Section title={t().delivery.title}>
          <DeliveryFacts delivery={delivery} />
        </Section>
        <Attempts delivery={delivery} />
      </div>
    </>
  );
}

function ResendButton({ delivery: { id, state }, onChange }: Props): JSX.Element | null {
  const act = useAction(async () => {
    const again = await send<{ id: string }>('POST', `/deliveries/${id}/retry`);
    toastSuccess(t().delivery.resent);
    // A delivered or cancelled one gets a successor.
    if (again.id === id) onChange();
    else go(`deliveries/${again.id}`);
  });
  if (state === 'due' || state === 'running') return null;
  return (
    <Button
      kind={state === 'dead' ? 'primary' : 'plain'}
      icon="replay"
      isBusy={act.isBusy}
      onClick={act.run}
    >
      {t().delivery.resend}
    </Button>
  );
}

const tones = {
  dead: 'bad',
  cancelled: 'quiet',
  due: 'warn',
  running: 'warn',
  delivered: 'good',
} as const;

function FailureNotice({ delivery }: { delivery: GetDeliveryAnswer }): JSX.Element | null {
  const failure = failureOf(delivery);
  if (failure === undefined) return null;
  const { state, attempts, nextAttemptAt } = delivery;
  const say = t().delivery;
  const last = attempts.findLast(({ error }) => error !== undefined);
  return (
    <Notice tone={tones[state]} title={failure.title}>
      <FailureAdvice failure={failure} attempt={state === 'cancelled' ? undefined : last} />
      {state === 'dead' ? <p class="soft">{say.gaveUp(attempts.length)}</p> : null}
      {state === 'due' ? (
        <p class="soft">
          {say.tried(attempts.length)}{' '}
          {nextAttemptAt === undefined ? (
            say.waiting
          ) : (
            <>
              {say.nextAttempt}: <Time at={nextAttemptAt} as="countdown" />
            </>
          )}
        </p>
      ) : null}
    </Notice>
  );
}

function DeliveryFacts({ delivery }: { delivery: GetDeliveryAnswer }): JSX.Element {
  const { id, subject, subscriberId, callback, createdAt, eventId } = delivery;
  const say = t().delivery;
  return (
    <Facts>
      <Fact name={say.endpoint}>
        <a href={href(`endpoints/${subscriberId}`)}>
          <UntrustedText text={callback.url} mono />
        </a>
      </Fact>
      {subject === undefined ? null : (
        <Fact name={say.subject}>
          <a href={href('deliveries', { subject })}>
            <UntrustedText text={subject} mono />
          </a>
        </Fact>
      )}
      <Fact name={say.created}>
        <Time at={createdAt} as="exact" />
      </Fact>
      <CopiedFact name={say.messageId} text={eventId} />
      <CopiedFact name={say.id} text={id} />
    </Facts>
  );
}

function CopiedFact({ name, text }: { name: string; text: string }): JSX.Element {
  return (
    <div>
      <dt>
        <Prose text={name} />
      </dt>
      <dd class="copied-fact">
        <UntrustedText text={text} mono />
        <CopyButton text={text} what={name.replaceAll('`', '')} isBare />
      </dd>
    </div>
  );
}
