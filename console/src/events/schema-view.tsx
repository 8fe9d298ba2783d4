// The schema of a payload, next to the editor.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { limits } from '../limits.ts';
import type { EventType } from './event-types.ts';
import { schemaRows, type SchemaRow } from './schema-rows.ts';

export function SchemaView({
  schema,
}: {
  readonly schema: NonNullable<EventType['schema']>;
}): JSX.Element {
  const rows = useMemo(() => schemaRows(schema), [schema]);
  return (
    <>
      <ul class="schema">
        {rows.map((row, at) => (
          <Row key={at} row={row} />
        ))}
      </ul>
      {rows.length < limits.schemaRowsMax ? null : (
        <p class="soft">
          The schema is longer. The{' '}
          <a href="/docs" target="_blank" rel="noreferrer">
            API reference
          </a>{' '}
          has all of it.
        </p>
      )}
    </>
  );
}

function Row({ row }: { row: SchemaRow }): JSX.Element {
  const { depth, name, kind, isRequired, rules, description } = row;
  return (
    <li class={`schema-depth-${Math.min(depth, limits.schemaDepthMax)}`}>
      <p class="cluster">
        <UntrustedText text={name} mono />
        <span class="soft">
          <UntrustedText text={kind} />
        </span>
        {isRequired ? <span class="schema-required">required</span> : null}
      </p>
      {rules.map((rule) => (
        <p key={rule} class="schema-rule">
          <UntrustedText text={rule} />
        </p>
      ))}
      {description === undefined ? null : (
        <p class="soft">
          <UntrustedText text={description} />
        </p>
      )}
    </li>
  );
}
