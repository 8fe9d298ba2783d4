// One endpoint: its health with what to do, its settings, its secret, a test event, and its recent deliveries.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { JSX } from 'preact';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { LinkButton } from '../../src/components/button.tsx';
import { Fact, Facts } from '../../src/components/drawer-section.tsx';
import { Loaded } from '../../src/components/loaded.tsx';
import { Notice } from '../../src/components/notice.tsx';
import { PageHeader, Section } from '../../src/components/page.tsx';
import { Time } from '../../src/components/time.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { visible } from '../../src/hidden-characters.ts';
import type { Load } from '../../src/load.ts';
import { BackLink } from '../back-link.tsx';
import { RecentDeliveries } from '../deliveries/recent.tsx';
import { t } from '../language.ts';
import { usePolling } from '../poll.ts';
import { Prose } from '../prose.tsx';
import { href } from '../route.ts';
import { can } from '../session.ts';
import { EndpointBadge } from '../state-badge.tsx';
import { EndpointActions } from './actions.tsx';
import { created } from './created.ts';
import { eventsOf, nameOf, urlsOf } from './endpoint-texts.ts';
import { HealthNotice } from './health.tsx';
import { useEndpoint } from './read-endpoints.ts';
import { SecretSection } from './secret.tsx';
import { TestEvent } from './test-event.tsx';

export function EndpointPage({ id }: { readonly id: string }): JSX.Element {
  const load = useEndpoint(id);
  usePolling(load.reload, { everyMs: 5_000 });
  useEffect(() => () => void (created.value = undefined), []);
  return (
    <>
      <BackLink to="endpoints" />
      <Loaded load={load}>{(endpoint) => <Endpoint endpoint={endpoint} load={load} />}</Loaded>
    </>
  );
}

function Endpoint({
  endpoint,
  load,
}: {
  readonly endpoint: Subscription;
  readonly load: Load<Subscription>;
}): JSX.Element {
  const { id, state } = endpoint;
  const tests = useSignal(0);
  const isOver = state === 'ended';
  const mayChange = can('manage') && !isOver;
  return (
    <>
      <PageHeader title={visible(nameOf(endpoint))} note={<EndpointBadge endpoint={endpoint} />}>
        {mayChange ? (
          <>
            <LinkButton kind="primary" href={href(`endpoints/${id}/edit`)}>
              {t().endpoint.edit}
            </LinkButton>
            <EndpointActions
              endpoint={endpoint}
              onChange={(changed) => load.change(() => changed)}
            />
          </>
        ) : undefined}
      </PageHeader>
      <div class="stack">
        {created.value?.id === id ? (
          <Notice tone="good" title={t().secret.created}>
            <p>
              <Prose text={t().secret.createdText} />
            </p>
          </Notice>
        ) : null}
        <HealthNotice endpoint={endpoint} onChange={(changed) => load.change(() => changed)} />
        {mayChange && state !== 'unconfirmed' ? (
          <TestEvent id={id} onResult={() => (tests.value += 1)} />
        ) : null}
        <Section title={t().endpoint.title}>
          <EndpointFacts endpoint={endpoint} />
        </Section>
        {mayChange ? <SecretSection endpoint={endpoint} /> : null}
        {can('manage') || isOver ? null : (
          <Notice tone="quiet">
            <p>{t().endpoint.readOnly}</p>
          </Notice>
        )}
        <RecentDeliveries key={tests.value} endpointId={id} />
      </div>
    </>
  );
}

function EndpointFacts({ endpoint }: { endpoint: Subscription }): JSX.Element {
  const { callbacks, description, createdAt } = endpoint;
  const inactive = callbacks.filter((one) => one.inactive !== undefined);
  return (
    <Facts>
      <Fact name={t().endpoint.url}>
        <ul>
          {urlsOf(endpoint).map((url) => (
            <li key={url}>
              <UntrustedText text={url} mono />
            </li>
          ))}
        </ul>
      </Fact>
      <Fact name={t().endpoint.events}>
        <UntrustedText text={eventsOf(endpoint)} />
      </Fact>
      {description === undefined || description === null ? null : (
        <Fact name={t().endpoint.description}>
          <UntrustedText text={description} />
        </Fact>
      )}
      <Fact name={t().endpoint.createdAt}>
        <Time at={createdAt} as="exact" />
      </Fact>
      {inactive.map(({ position, inactive: why = '' }) => (
        <Fact key={position} name={t().endpoint.inactive}>
          <UntrustedText text={why} />
        </Fact>
      ))}
    </Facts>
  );
}
