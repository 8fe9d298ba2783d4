// The contract as the service executes it: subscribe operations, events to publish, and repairs. It
// describes what the service does, not only what the document says.
import '../contract/contract.css';
import type { JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { LinkButton } from '../components/button.tsx';
import { Select } from '../components/field.tsx';
import { Empty, Failed, Skeleton } from '../components/list-states.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { PageHeader } from '../components/page.tsx';
import { EventTypesSection } from '../contract/event-types.tsx';
import { EventsSection } from '../contract/events.tsx';
import { SubscribeSection, UnsubscribeSection } from '../contract/operations.tsx';
import { CannotRun, WarningsSection } from '../contract/warnings.tsx';
import { plural } from '../format.ts';
import { useLoad } from '../load.ts';
import { param, setParams } from '../router.ts';
import { can } from '../session.ts';
import type { Contract, ContractReport } from '../../../src/client/contract/service.ts';

export function ContractPage(): JSX.Element {
  const contracts = useLoad('contracts', (signal) =>
    get<{ items: readonly Contract[] }>('/contracts', { signal }),
  );
  const { state } = contracts;
  const items = contracts.value?.items ?? [];
  const chosen = param('contract') ?? items[0]?.title;
  return (
    <>
      <PageHeader title="Contract" note="How this service executes the OpenAPI document">
        <LinkButton href={withQuery('/docs', { contract: chosen })} isExternal>
          API reference
        </LinkButton>
        <LinkButton href="/openapi.yaml" isExternal>
          openapi.yaml
        </LinkButton>
      </PageHeader>
      {items.length > 1 ? (
        <div class="contract-choice">
          <Select
            label="Contract"
            value={chosen ?? ''}
            options={items.map(({ title, version }) => ({
              value: title,
              text: version === undefined ? title : `${title} (${version})`,
            }))}
            onChange={(contract) => setParams({ contract })}
          />
        </div>
      ) : null}
      {state.kind === 'loading' ? <Skeleton rows={8} /> : null}
      {state.kind === 'failed' ? (
        <Failed problem={state.problem} onRetry={contracts.reload} />
      ) : null}
      {state.kind === 'ready' && chosen === undefined ? (
        <Empty icon="contract" title="No contract loaded" />
      ) : null}
      {chosen === undefined ? null : <Report key={chosen} title={chosen} />}
    </>
  );
}

function Report({ title }: { title: string }): JSX.Element {
  const load = useLoad(title, (signal) =>
    get<ContractReport>(`/contracts/${encodeURIComponent(title)}/report`, { signal }),
  );
  const { state } = load;
  if (state.kind === 'loading') return <Skeleton rows={8} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={load.reload} />;
  const { value } = state;
  const otherOperations = value.otherOperations ?? 0;
  const hasOperations = value.subscribes.length + value.unsubscribes.length > 0;
  const events = (
    <>
      {value.events.length === 0 && value.webhooks.length > 0 ? null : (
        <EventsSection events={value.events} />
      )}
      {can('read') ? <EventTypesSection contract={title} /> : null}
    </>
  );
  return (
    <>
      <p class="soft">
        <UntrustedText text={value.title} /> <UntrustedText text={value.version} />, OpenAPI{' '}
        <UntrustedText text={value.openapi} />
        {otherOperations === 0
          ? ''
          : `, and ${plural(otherOperations, 'operation')} without callbacks`}
        .{' '}
        <a href={`/contracts/${encodeURIComponent(value.title)}`} target="_blank" rel="noreferrer">
          View the executed document
        </a>
      </p>
      <CannotRun reasons={value.cannotRun} />
      <div class="contract-columns">
        <div>
          {value.subscribes.map((operation) => (
            <SubscribeSection key={operation.operationId} operation={operation} />
          ))}
          {value.unsubscribes.map((operation) => (
            <UnsubscribeSection key={operation.operationId} operation={operation} />
          ))}
          {hasOperations ? null : events}
        </div>
        <div>
          {hasOperations ? events : null}
          <WarningsSection warnings={value.warnings} />
        </div>
      </div>
    </>
  );
}
