// What a subscribe operation registers: its variants, and the callbacks of each. The facts are those of the report; the
// document only adds descriptions and schemas.
import type { JsonObject } from '../../contract/document/document.ts';
import type { CallbackDefinition, Operation, Variant } from '../../contract/model/contract.ts';
import { type CallbackReport, reportCallback } from '../../contract/report/report.ts';
import {
  describeAccepted,
  joinText,
  sourceText,
  type RichText,
} from '../../contract/report/descriptions.ts';
import { exampleView } from './example.ts';
import { type Fragment, type Html, html, table, richText } from './html.ts';
import { prose } from './prose.ts';
import { readableSchema, schemaView, sentence } from './schema.ts';
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
    const { name, answer } = variant;
    const link = html`<a href="#${anchorOf(view, operation, variant)}"><code>${name}</code></a>`;
    return {
      cells: [
        link,
        needsView(variant),
        html`<span class="status">${answer?.status ?? accepted(operation)}</span>`,
      ],
    };
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
  const { name, answer, callbacks } = variant;
  const head =
    name === ''
      ? html`<h4>Callbacks</h4>`
      : html`<h4 id="${anchorOf(view, operation, variant)}">Variant <code>${name}</code></h4>
          <p>
            Requires ${needsView(variant)}. Responds with
            <span class="status">${answer?.status ?? accepted(operation)}</span>.
          </p>`;
  return html`<section>
    ${head} ${callbacks.map((one) => callbackView(view, one, { operation, variant }))}
  </section>`;
}

/** The statuses by which the API that answers accepts a request. */
function accepted({ role }: Operation): string {
  return role.kind === 'subscribe' ? describeAccepted(role) : '';
}

function anchorOf(view: View, { operationId }: Operation, { name }: Variant): string {
  return `${view.anchors.get(operationId) ?? ''}-variant-${slug(name)}`;
}

function needsView({ needs, needsAny }: Variant): Fragment {
  const any: RichText = ['at least one of ', ...joinText(needsAny.map(sourceText), ', ')];
  const all = [...needs.map(sourceText), ...(needsAny.length === 0 ? [] : [any])];
  return richText(joinText(all, ' and '));
}

function callbackView(
  view: View,
  definition: CallbackDefinition,
  holder: { operation: Operation; variant: Variant },
): Html {
  const { id, label } = definition;
  const report = reportCallback(definition, holder);
  const written = view.written(holder.operation)?.operation ?? {};
  const called = writtenCallback(view.root, written, id);
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
      : html`<p class="inactive"><strong>Inactive.</strong> ${sentence(inactive)}.</p>`;
  return html`<span class="target">${verb}${templateView(key ?? written)}</span> ${notes} ${why}`;
}

/** `{$request.query.url}?event={$request.query.event}`, with its expressions highlighted. */
function templateView(template: string): Html {
  const parts = template
    .split(/(\{[^{}]*\})/u)
    .map((part, at) => (at % 2 === 0 ? part : html`<span class="expression">${part}</span>`));
  return html`<code class="template">${parts}</code>`;
}

/** `called`: the request that is sent, as written in the document. */
export function payloadView(
  view: View,
  called: JsonObject,
  { mediaType, payload }: Pick<CallbackDefinition, 'mediaType' | 'payload'>,
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

/** What becomes of the subscription for each status of the receiver. */
export function answers(
  view: View,
  called: JsonObject,
  callback: Pick<CallbackDefinition, 'statuses' | 'unsubscribeStatus' | 'isFinal'>,
): Html {
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
    const delivered = callback.isFinal
      ? 'Delivered. It is final: the subscription ends.'
      : 'Delivered.';
    const meaning = isReceived(status) ? delivered : (redirects.get(status) ?? 'Retried.');
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

const redirects: ReadonlyMap<string, string> = new Map([
  ['307', 'Followed.'],
  ['308', 'Followed.'],
  ['3XX', '307 and 308 are followed, others retried.'],
]);

function isReceived(status: string): boolean {
  return status.startsWith('2');
}
