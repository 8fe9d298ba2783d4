// What a subscribe operation registers: its variants, and the callbacks of each. The facts are those of the report; the
// document only adds descriptions and schemas.
import type { JsonObject } from '../../contract/document/document.ts';
import type { CallbackDefinition, Operation, Variant } from '../../contract/model/contract.ts';
import {
  type CallbackReport,
  describeVariant,
  type VariantReport,
} from '../../contract/report/report.ts';
import { exampleView } from './example.ts';
import { type Fragment, type Html, html, table } from './html.ts';
import { prose } from './prose.ts';
import { readableSchema, schemaView } from './schema.ts';
import {
  type View,
  jsonFirst,
  slug,
  entriesOf,
  objectAt,
  textIn,
  writtenCallback,
} from './view.ts';

export function variantsView(
  view: View,
  operation: Operation,
  variants: readonly Variant[],
): Fragment {
  const rows = variants.map((variant) => {
    const { name, status, ...report } = describeVariant({ operation, variant });
    const link = html`<a href="#${anchorOf(view, operation, variant)}"><code>${name}</code></a>`;
    return { cells: [link, needsWords(report), html`<span class="status">${status}</span>`] };
  });
  return [
    html`<section class="variants">
      <h4>Variants</h4>
      <p>A request uses exactly one variant, selected by its content.</p>
      ${table('plain', ['Variant', 'Required in the request', 'Response'], rows)}
    </section>`,
    variants.map(
      (variant) => html`<div class="split variant">
        <div class="split-main">${variantView(view, operation, variant)}</div>
        <div class="split-side">${exampleView(view, operation, variant)}</div>
      </div>`,
    ),
  ];
}

/** One variant without its example. An operation without variants has a single unnamed one. */
export function variantView(view: View, operation: Operation, variant: Variant): Html {
  const report = describeVariant({ operation, variant });
  const { name, status } = report;
  const head =
    name === ''
      ? html`<h4>Callbacks</h4>`
      : html`<h4 id="${anchorOf(view, operation, variant)}">Variant <code>${name}</code></h4>
          <p>
            Requires ${needsWords(report)}. Responds with <span class="status">${status}</span>.
          </p>`;
  const callbacks = variant.callbacks.map((definition, index) =>
    callbackView(view, operation, { definition, report: report.callbacks[index] }),
  );
  return html`<section>${head} ${callbacks}</section>`;
}

function anchorOf(view: View, { operationId }: Operation, { name }: Variant): string {
  return `${view.anchors.get(operationId) ?? ''}-variant-${slug(name)}`;
}

function needsWords({ needs, needsAny }: Pick<VariantReport, 'needs' | 'needsAny'>): string {
  const any = needsAny.length === 0 ? [] : [`at least one of ${needsAny.join(', ')}`];
  return [...needs, ...any].join(' and ');
}

interface Callback {
  definition: CallbackDefinition;
  report: CallbackReport | undefined;
}

function callbackView(
  view: View,
  operation: Operation,
  { definition, report }: Callback,
): Fragment {
  if (report === undefined) return undefined;
  const { id, label } = definition;
  const called = writtenCallback(view.root, view.written(operation)?.operation ?? {}, id);
  return html`<div class="callback">
    <p class="callback-head">
      <span class="words">Callback</span> <code class="label">${label}</code>
      <span class="callback-summary">${textIn(called, 'summary')}</span>
    </p>
    ${prose(textIn(called, 'description'))}
    <ol class="flow">
      <li><span class="step">When this event happens</span> ${eventView(report)}</li>
      <li><span class="step">Ringback sends</span> ${targetView(definition, report)}</li>
      <li><span class="step">With this payload</span> ${payloadView(view, called, definition)}</li>
      <li><span class="step">Your receiver responds</span> ${answers(view, called, definition)}</li>
    </ol>
  </div>`;
}

function eventView({ event, matches }: CallbackReport): Html {
  const name = event.includes('{')
    ? templateView(event)
    : html`<code class="event">${event}</code>`;
  return html`${name} <span class="meaning">${matches === event ? undefined : matches}</span>`;
}

function targetView({ id, label }: CallbackDefinition, report: CallbackReport): Html {
  const { key, method, inactive, repairs } = report;
  const written = id.slice(label.length + 1, -(method.length + 1));
  const verb = key === undefined ? undefined : html`<span class="method">${method}</span> `;
  const notes = repairs.map((repair) => html`<p class="meaning">${repair}</p>`);
  const why =
    inactive === undefined
      ? undefined
      : html`<p class="inactive"><strong>Inactive.</strong> ${inactive}</p>`;
  return html`<span class="target">${verb}${templateView(key ?? written)}</span> ${notes} ${why}`;
}

/** `{$request.query.url}?event={$request.query.event}`, with its expressions highlighted. */
function templateView(template: string): Html {
  const parts = template
    .split(/(\{[^{}]*\})/u)
    .map((part, at) => (at % 2 === 0 ? part : html`<span class="expression">${part}</span>`));
  return html`<code class="template">${parts}</code>`;
}

function payloadView(
  view: View,
  called: JsonObject,
  { mediaType, payload }: CallbackDefinition,
): Fragment {
  const content = objectAt(view.root, called['requestBody'], 'content');
  const { schema } = objectAt(view.root, content[jsonFirst(Object.keys(content)) ?? '']);
  if (mediaType === undefined) return html`<span class="meaning">no body</span>`;
  if (payload === undefined) {
    return html`<code class="media">${mediaType}</code> <span class="meaning">any value</span>`;
  }
  const readable = readableSchema(view, schema, payload);
  return schemaView(readable.view, readable.schema, mediaType);
}

function answers(view: View, called: JsonObject, callback: CallbackDefinition): Html {
  const ends = String(callback.unsubscribeStatus);
  const responses = new Map(
    entriesOf(objectAt(view.root, called['responses'])).map(([status, value]) => [
      status.toUpperCase(),
      textIn(objectAt(view.root, value), 'description'),
    ]),
  );
  const declared = callback.statuses.filter((status) => status !== 'default');
  const shown = new Set([...(declared.some(isReceived) ? [] : ['2XX']), ...declared, ends]);
  const rows = [...shown].map((status) => {
    const meaning = isReceived(status) ? 'Delivered.' : 'Retried.';
    return html`<li>
      <span class="status">${status.replace(/XX$/u, 'xx')}</span>
      <span>
        <strong>${status === ends ? 'Ends the subscription.' : meaning}</strong>
        ${responses.get(status)}
      </span>
    </li>`;
  });
  return html`<ul class="answers">
    ${rows}
    <li>
      <span class="status">other</span> <span><strong>Retried.</strong></span>
    </li>
  </ul>`;
}

function isReceived(status: string): boolean {
  return status.startsWith('2');
}
