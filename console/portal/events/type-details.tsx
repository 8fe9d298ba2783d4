// The schema and an example of an event, rendered only when they are opened.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { Code } from '../../src/components/code.tsx';
import { SchemaView } from '../../src/events/schema-view.tsx';
import { t } from '../language.ts';
import type { EventType } from './read-types.ts';

export function TypeDetails({ type }: { readonly type: EventType }): JSX.Element {
  const isOpen = useSignal(false);
  const { details, detailsOf } = t().picker;
  return (
    <details class="type-details" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
      <summary aria-label={detailsOf(type.event)}>{details}</summary>
      {isOpen.value ? <Content type={type} /> : null}
    </details>
  );
}

function Content({ type: { event, schema, example } }: { type: EventType }): JSX.Element {
  const say = t().event;
  return (
    <div class="type-content">
      <div>
        <h4>{say.schema}</h4>
        {schema === undefined ? (
          <p class="soft">{say.noSchema}</p>
        ) : (
          <SchemaView schema={schema} whereAll={say.isLonger} />
        )}
      </div>
      <div>
        <h4>{say.example}</h4>
        {example === undefined ? (
          <p class="soft">{say.noExample}</p>
        ) : (
          <Code text={JSON.stringify(example)} label={say.exampleOf(event)} />
        )}
      </div>
    </div>
  );
}
