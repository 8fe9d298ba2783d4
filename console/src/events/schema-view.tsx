// The schema of a payload, next to the editor.
import './schema-view.css';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { limits } from '../limits.ts';
import { words } from '../words.ts';
import type { EventType } from './event-types.ts';
import { schemaRows, type SchemaRow } from './schema-rows.ts';

export function SchemaView({
  schema,
  whereAll,
}: {
  readonly schema: NonNullable<EventType['schema']>;
  /** Where to find the rest of a schema that is too long to show. */
  readonly whereAll: ComponentChildren;
}): JSX.Element {
  const rows = useMemo(() => schemaRows(schema), [schema]);
  return (
    <>
      <ul class="schema">
        {rows.map((row, at) => (
          <Row key={at} row={row} />
        ))}
      </ul>
      {rows.length < limits.schemaRowsMax ? null : <p class="soft">{whereAll}</p>}
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
        {isRequired ? <span class="schema-required">{words().schema.required}</span> : null}
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
