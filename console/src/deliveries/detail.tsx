// The content of the delivery drawer: state, failure with advice, actions, and four tabs.
import type { JSX } from 'preact';
import { get, getText } from '../api.ts';
import { shownState, StateBadge } from '../components/badge.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Tabs } from '../components/tabs.tsx';
import { searchHref } from '../path-of-id.ts';
import { Time } from '../components/time.tsx';
import { memberText } from '../json-text.ts';
import { useLoad, type Load } from '../load.ts';
import { param, setParams } from '../router.ts';
import { can } from '../session.ts';
import type {
  Attempt,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../../src/client/contract/delivery.ts';
import type { EventType } from '../events/event-types.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { AttemptSelect } from './attempt-select.tsx';
import { EventTab } from './event-tab.tsx';
import { FailureNotice } from './failure-notice.tsx';
import { curl } from './curl.ts';
import { mediaTypeOf } from './media-type.ts';
import { NextAttempt } from './next-attempt.tsx';
import { copyNote, curlRequest } from './curl-request.ts';
import { RequestTab } from './request-tab.tsx';
import { ResponseTab } from './response-tab.tsx';
import { RetryButton } from './retry-button.tsx';
import { Timeline } from './timeline.tsx';
import type { AttemptRequest } from './attempt-request.ts';

const tabs = [
  { name: 'request', title: 'Request' },
  { name: 'response', title: 'Response' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'event', title: 'Event' },
] as const;

type TabName = (typeof tabs)[number]['name'];

export function DeliveryDetail({
  delivery,
  onChange,
}: {
  readonly delivery: DeliveryWithAttempts;
  readonly onChange: () => void;
}): JSX.Element {
  const attempt = chosenAttempt(delivery);
  const subscribed = useLoad(delivery.subscriberId, (signal) =>
    get<Subscription>(`/subscriptions/${delivery.subscriberId}`, { signal }),
  );
  const subscription = subscribed.value;
  const request = useAttemptRequest(delivery, { attempt, subscribed });
  const tab = chosenTab(delivery);
  return (
    <>
      <Head delivery={delivery} />
      <FailureNotice delivery={delivery} subscription={subscription} />
      <div class="cluster">
        {can('retry') ? (
          <RetryButton delivery={delivery} subscription={subscription} onDone={onChange} />
        ) : null}
        <CopyButton
          what="as curl"
          text={() => curl(curlRequest(request))}
          isBusy={!request.isKnown}
          note={copyNote(request)}
        />
        <CopyButton what="ID" text={delivery.id} />
      </div>
      <Tabs
        label="Delivery details"
        tabs={tabs}
        chosen={tab}
        onChoose={(name) => setParams({ tab: name }, { replace: true })}
      >
        {tab === 'request' || tab === 'response' ? (
          <AttemptSelect attempts={delivery.attempts} chosen={attempt} />
        ) : null}
        <TabContent tab={tab} delivery={delivery} request={request} />
      </Tabs>
    </>
  );
}

function Head({ delivery }: { delivery: DeliveryWithAttempts }): JSX.Element {
  const { event, subject, customer, callback, createdAt, state, nextAttemptAt } = delivery;
  return (
    <div class="detail-head">
      <p class="cluster">
        <span role="status">
          <StateBadge state={shownState(delivery)} />
        </span>
        <strong>
          <UntrustedText text={event} />
        </strong>
        {subject === undefined ? null : <SearchLink text={subject} />}
        {customer === undefined ? null : <SearchLink text={customer} />}
        <span class="soft">
          <Time at={createdAt} />
          {state === 'due' && nextAttemptAt !== undefined ? (
            <>
              {' · next attempt '}
              <NextAttempt at={nextAttemptAt} />
            </>
          ) : null}
        </span>
      </p>
      <p>
        <span class="mono soft">{callback.method}</span> <UntrustedText text={callback.url} mono />
      </p>
    </div>
  );
}

function SearchLink({ text }: { readonly text: string }): JSX.Element {
  return (
    <a href={searchHref(text)}>
      <UntrustedText text={text} mono />
    </a>
  );
}

function TabContent({
  tab,
  delivery,
  request,
}: {
  readonly tab: TabName;
  readonly delivery: DeliveryWithAttempts;
  readonly request: AttemptRequest;
}): JSX.Element {
  switch (tab) {
    case 'request':
      return <RequestTab request={request} />;
    case 'response':
      return <ResponseTab delivery={delivery} attempt={request.attempt} />;
    case 'timeline':
      return <Timeline delivery={delivery} />;
    case 'event':
      return <EventTab delivery={delivery} payload={request.payload} />;
  }
}

/** Loads what is needed to show and repeat the request of an attempt. */
function useAttemptRequest(
  delivery: DeliveryWithAttempts,
  { attempt, subscribed }: { attempt: Attempt | undefined; subscribed: Load<Subscription> },
): AttemptRequest {
  // As text: a number of 30 digits must stay as it was published.
  const payload = useLoad(delivery.eventId, async (signal) => {
    const text = await getText(`/events/${delivery.eventId}`, signal);
    return memberText(text, 'payload') ?? '';
  });
  const types = useLoad('types', (signal) =>
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  );
  const mediaType = mediaTypeOf(delivery, {
    subscription: subscribed.value,
    types: types.value?.items ?? [],
  });
  const isKnown = [payload, types, subscribed].every(isRead);
  return { delivery, attempt, payload, mediaType, isKnown };
}

/** Loaded, or failed to load. */
function isRead({ value, isLoading }: Pick<Load<unknown>, 'value' | 'isLoading'>): boolean {
  return value !== undefined || !isLoading;
}

/** The attempt in the address, otherwise the last one. */
function chosenAttempt({ attempts }: DeliveryWithAttempts): Attempt | undefined {
  const named = param('attempt');
  return attempts.find(({ id }) => id.endsWith(`_${named ?? ''}`)) ?? attempts.at(-1);
}

/** The tab in the address; by default the response, if there is one. */
function chosenTab(delivery: DeliveryWithAttempts): TabName {
  const named = tabs.find(({ name }) => name === param('tab'))?.name;
  if (named !== undefined) return named;
  const last = delivery.attempts.at(-1);
  return last?.response === undefined ? 'request' : 'response';
}
