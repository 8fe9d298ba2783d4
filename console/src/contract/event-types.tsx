// The webhooks of a contract, and the event types that the app declares for it. These are not public, unlike the
// reference page.
import '../events/events.css';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { get } from '../api.ts';
import { Code } from '../components/code.tsx';
import { Failed } from '../components/list-states.tsx';
import { Section } from '../components/page.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { AboutEventType, WholeSchema } from '../events/about-event-type.tsx';
import type { EventType } from '../events/event-types.ts';
import { SchemaView } from '../events/schema-view.tsx';
import { visible } from '../hidden-characters.ts';
import { useLoad } from '../load.ts';

export function EventTypesSection({ contract }: { contract: string }): JSX.Element | null {
  const load = useLoad(contract, (signal) =>
    get<{ items: readonly EventType[] }>('/event-types', { signal }),
  );
  const { state } = load;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={load.reload} />;
  const types = (load.value?.items ?? []).filter(
    (type) => type.source !== 'callback' && type.contract === contract,
  );
  if (types.length === 0) return null;
  return (
    <Section title="Event types" isFlush>
      <ul class="contract-events">
        {types.map((type) => (
          <li key={type.event}>
            <OneType type={type} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

function OneType({ type }: { type: EventType }): JSX.Element {
  const { event, schema, example } = type;
  return (
    <>
      <div class="contract-event">
        <b>
          <UntrustedText text={event} mono />
        </b>
        <AboutEventType type={type} />
      </div>
      {schema === undefined ? null : <Schema type={type} schema={schema} />}
      {example === undefined ? null : (
        <Code text={JSON.stringify(example)} label={`example of ${visible(event).slice(0, 80)}`} />
      )}
    </>
  );
}

/** Rendered when it is opened, because a schema may be long and there may be many. */
function Schema({
  type,
  schema,
}: {
  type: EventType;
  schema: NonNullable<EventType['schema']>;
}): JSX.Element {
  const isOpen = useSignal(false);
  return (
    <details
      class="contract-schema"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>Payload schema</summary>
      {isOpen.value ? <SchemaView schema={schema} whereAll={<WholeSchema type={type} />} /> : null}
    </details>
  );
}
