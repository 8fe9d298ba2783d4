// A schema as a nested list that people can read. Ends for every schema: by circles noticed, by
// depth, and by the number of lines.
import { bounds } from './bounds.ts';
import { html, join } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { prose } from './prose.ts';
import { factsOf, schemaName } from './schema.ts';
import type { Branches, Property, SchemaFacts } from './schema.ts';
import { printValue } from './value.ts';
import type { View } from './view.ts';

/** `mediaType`: what carries it, where that is worth saying. */
export function schemaView(view: View, schema: unknown, mediaType?: string): Html {
  const rows = Math.max(0, Math.min(bounds.schemaRowsMax, view.meter.rowsLeft));
  const drawing: Drawing = { view, meter: { rowsLeft: rows }, depth: 0, trail: [] };
  const facts = factsOf(view.root, schema);
  const media = mediaType === undefined ? undefined : html`<code class="media">${mediaType}</code>`;
  const content = html`<div class="schema">
    <p class="schema-head">${media} ${typeOf(schema, facts)}</p>
    ${about(facts)} ${inside(facts, drawing)}
  </div>`;
  view.meter.rowsLeft -= rows - drawing.meter.rowsLeft;
  return content;
}

/** Description, limits and values: what a table of parameters shows too. */
export function about(facts: SchemaFacts, description = facts.description): Fragment {
  const { limits, values, examples, pattern } = facts;
  const notes: Fragment[] = [
    limits.length === 0 ? undefined : note(undefined, sentence(limits.join(', '))),
    values.length === 0 ? undefined : note('One of', codes(values)),
    pattern === undefined ? undefined : note('Pattern', codes([pattern])),
    facts.default === undefined ? undefined : note('Default', codes([facts.default])),
    examples.length === 0 ? undefined : note('Example', codes(examples.slice(0, 1))),
    facts.elsewhere.length === 0 ? undefined : note('Defined in', codes(facts.elsewhere)),
  ].filter((one) => one !== undefined);
  const list = notes.length === 0 ? undefined : html`<p class="notes">${join(notes, ' ')}</p>`;
  return [prose(description), list];
}

export function typeOf(schema: unknown, { type }: SchemaFacts): Fragment {
  // The name of a plain value or a list tells nothing that its type and limits do not.
  const name = type === '' || type.startsWith('object') ? schemaName(schema) : undefined;
  return [
    type === '' ? undefined : html`<span class="type">${type}</span>`,
    name === undefined ? undefined : html` <span class="type-name">${name}</span>`,
  ];
}

interface Drawing {
  view: View;
  meter: { rowsLeft: number };
  depth: number;
  /** References above this place. */
  trail: readonly string[];
}

/** Properties, items and branches: what hangs below a schema. */
function inside(facts: SchemaFacts, drawing: Drawing): Fragment {
  const { properties, branches, items, refs } = facts;
  if (properties.length === 0 && branches.length === 0 && items === undefined) return undefined;
  const { trail, depth } = drawing;
  if (refs.some((ref) => trail.includes(ref))) {
    return html`<p class="cut">Nested: same as above.</p>`;
  }
  if (depth >= bounds.schemaDepthMax) return html`<p class="cut">Deeper levels are not shown.</p>`;
  const deeper = { ...drawing, depth: depth + 1, trail: [...trail, ...refs] };
  return [
    properties.length === 0 ? undefined : propertyList(properties, deeper),
    branches.map((one) => branchList(one, deeper)),
    items === undefined ? undefined : itemsOf(items, deeper),
  ];
}

function propertyList(properties: readonly Property[], drawing: Drawing): Fragment {
  const reach = Math.max(0, drawing.meter.rowsLeft);
  const rows = properties.slice(0, reach).map((property) => row(property, drawing));
  const list = html`<ul class="properties">
    ${rows}${cutNote(drawing)}
  </ul>`;
  if (drawing.depth < 4) return list;
  const count = properties.length === 1 ? '1 property' : `${properties.length} properties`;
  return html`<details>
    <summary>${count}</summary>
    ${list}
  </details>`;
}

function row({ name, schema, isRequired }: Property, drawing: Drawing): Fragment {
  if (drawing.meter.rowsLeft <= 0) return undefined;
  drawing.meter.rowsLeft -= 1;
  const facts = factsOf(drawing.view.root, schema);
  const required = isRequired ? html` <span class="required">required</span>` : undefined;
  return html`<li>
    <p class="property"><code class="name">${name}</code> ${typeOf(schema, facts)}${required}</p>
    ${about(facts)} ${inside(facts, drawing)}
  </li>`;
}

/** Said once, where the lines ran out. */
function cutNote({ meter }: Drawing): Fragment {
  if (meter.rowsLeft !== 0) return undefined;
  meter.rowsLeft = -1;
  return html`<li class="cut">
    Too long to show in full: see <a href="/openapi.json">the document</a>.
  </li>`;
}

function branchList({ words, schemas }: Branches, drawing: Drawing): Fragment {
  const rows = schemas.map((schema, index) => {
    if (drawing.meter.rowsLeft <= 0) return undefined;
    drawing.meter.rowsLeft -= 1;
    const facts = factsOf(drawing.view.root, schema);
    return html`<li>
      <p class="property"><span class="number">${index + 1}</span> ${typeOf(schema, facts)}</p>
      ${about(facts)} ${inside(facts, drawing)}
    </li>`;
  });
  return html`<p class="words">${sentence(words)}</p>
    <ul class="branches">
      ${rows}${cutNote(drawing)}
    </ul>`;
}

/** Items that are plain values are told by the type of the list already, but not their limits. */
function itemsOf(items: unknown, drawing: Drawing): Fragment {
  const facts = factsOf(drawing.view.root, items);
  const { items: inner } = facts;
  // A list of objects is no level of its own to the eye; lists of lists must go on counting.
  const depth = inner === undefined ? drawing.depth - 1 : drawing.depth;
  return html`<div class="items">
    ${inner === undefined ? undefined : html`<p class="words">Each: ${typeOf(items, facts)}</p>`}
    ${about({ ...facts, limits: facts.limits.map((limit) => `each: ${limit}`) })}
    ${inside(facts, { ...drawing, depth })}
  </div>`;
}

function note(label: string | undefined, content: Fragment): Html {
  const head = label === undefined ? undefined : html`<span class="note-label">${label}</span> `;
  return html`<span class="note">${head}${content}</span>`;
}

function codes(values: readonly unknown[]): Fragment {
  const shown = values.slice(0, bounds.valuesShownMax);
  const more = values.length - shown.length;
  const list = join(
    shown.map((value) => html`<code>${printValue(value)}</code>`),
    ' ',
  );
  return more > 0 ? [list, ` and ${more} more`] : list;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
