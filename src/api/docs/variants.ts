// The variants of a subscribe operation: what each requires, returns and registers.
import type { JsonObject } from '../../contract/document/document.ts';
import { type Expression, printExpression } from '../../contract/expression/expression.ts';
import { type Template, parseTemplate, printTemplate } from '../../contract/expression/template.ts';
import type {
  CallbackDefinition,
  Link,
  Operation,
  Variant,
} from '../../contract/model/contract.ts';
import { exampleView } from './example.ts';
import { type Fragment, type Html, html, join } from './html.ts';
import { prose } from './prose.ts';
import { factsOf, schemaView } from './schema.ts';
import { printValue } from './value.ts';
import {
  type View,
  compiledSchema,
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
  return [
    html`<section class="variants">
      <h4>Variants</h4>
      <p>A request uses exactly one variant, selected by its content.</p>
      ${variantTable(view, operation, variants)}
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
  const { name, callbacks, answer } = variant;
  const head =
    name === ''
      ? html`<h4>Callbacks</h4>`
      : html`<h4 id="${variantAnchor(view, operation, variant)}">Variant <code>${name}</code></h4>
          <p>
            Requires ${needsWords(variant)}. Responds with
            <span class="status">${answer.status}</span>.
          </p>`;
  const links = answer.links.map(
    (link) => html`<li><span class="words">Link</span> ${linkWords(view, link)}</li>`,
  );
  const list = html`<ul class="links">
    ${links}
  </ul>`;
  return html`<section>
    ${head} ${callbacks.map((callback) => callbackView(view, operation, callback))}
    ${links.length === 0 ? undefined : list}
  </section>`;
}

function variantAnchor(view: View, { operationId }: Operation, { name }: Variant): string {
  return `${view.anchors.get(operationId) ?? ''}-variant-${slug(name)}`;
}

function variantTable(view: View, operation: Operation, variants: readonly Variant[]): Html {
  const rows = variants.map(
    (variant) => html`<tr>
      <th scope="row">
        <a href="#${variantAnchor(view, operation, variant)}"><code>${variant.name}</code></a>
      </th>
      <td>${needsWords(variant)}</td>
      <td><span class="status">${variant.answer.status}</span></td>
    </tr>`,
  );
  return html`<table>
    <thead>
      <tr>
        <th scope="col">Variant</th>
        <th scope="col">Required in the request</th>
        <th scope="col">Response</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

function needsWords({ needs, needsAny }: Variant): Fragment {
  const all = join(needs.map(expressionView), ' and ');
  if (needsAny.length === 0) return all;
  const any = html`any of ${join(needsAny.map(expressionView), ', ')}`;
  return needs.length === 0 ? any : [all, ' and ', any];
}

/** `subscriberId` of the response → `Id` of `unsubscribeOperation`. */
function linkWords(view: View, link: Link): Html {
  const anchor = view.anchors.get(link.operationId);
  const name = html`<code>${link.operationId}</code>`;
  const target = anchor === undefined ? name : html`<a href="#${anchor}">${name}</a>`;
  const handed = [...link.parameters].map(([parameter, source]): Fragment => {
    const from =
      source.kind === 'constant'
        ? html`<code>${printValue(source.value)}</code>`
        : expressionView(source);
    return html`${from} <span class="arrow">→</span> <code>${parameter}</code>`;
  });
  return html`${join(handed, ', ')} of ${target}`;
}

// What a callback sends. Drawn from the executed contract; the document only adds descriptions.

function callbackView(view: View, operation: Operation, callback: CallbackDefinition): Html {
  const written = view.written(operation)?.operation ?? {};
  const called = writtenCallback(view.root, written, callback.id);
  return html`<div class="callback">
    <p class="callback-head">
      <span class="words">Callback</span> <code class="label">${callback.label}</code>
      <span class="callback-summary">${textIn(called, 'summary')}</span>
    </p>
    ${prose(textIn(called, 'description'))}
    <ol class="flow">
      <li><span class="step">When this event happens</span> ${eventView(callback.event)}</li>
      <li><span class="step">Ringback sends</span> ${targetView(callback)}</li>
      <li><span class="step">With this payload</span> ${payloadView(view, called, callback)}</li>
      <li><span class="step">Your receiver responds</span> ${answers(view, called, callback)}</li>
    </ol>
  </div>`;
}

function eventView(event: Template): Fragment {
  const text = printTemplate(event);
  const isNamedByRequest = event.some(({ kind }) => kind === 'expression');
  const words = isNamedByRequest ? 'the event named in the request' : patternMeaning(text);
  const name = isNamedByRequest ? templateView(event) : html`<code class="event">${text}</code>`;
  return html`${name} <span class="meaning">${words}</span>`;
}

function patternMeaning(pattern: string): string {
  if (pattern === '*') return 'every event';
  return pattern.endsWith('.*') ? `every event whose name starts with ${pattern.slice(0, -1)}` : '';
}

function targetView(callback: CallbackDefinition): Fragment {
  const { id, label, method, target, inactive } = callback;
  const key = id.slice(label.length + 1, -(method.length + 1));
  if (target === undefined) {
    return html`<span class="target"><code class="template">${key}</code></span>
      <p class="inactive"><strong>Inactive.</strong> ${inactive}</p>`;
  }
  const printed = printTemplate(target);
  const isSame = [key, `{${key}}`].some((one) => one.toLowerCase() === printed.toLowerCase());
  const note = isSame ? undefined : html`<p class="meaning">Written as <code>${key}</code></p>`;
  return html`<span class="target"
      ><span class="method">${method}</span> ${templateView(target)}</span
    >
    ${note}`;
}

/** The schema may be in another file; then only the compiled contract has it. */
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
  const isHere = schema !== undefined && factsOf(view.root, schema).elsewhere.length === 0;
  if (isHere) return schemaView(view, schema, mediaType);
  const compiled = compiledSchema(view, payload);
  return schemaView(compiled.view, compiled.schema, mediaType);
}

function answers(view: View, called: JsonObject, callback: CallbackDefinition): Html {
  const { statuses, unsubscribeStatus } = callback;
  const responses = objectAt(view.root, called['responses']);
  const written = new Map(
    entriesOf(responses).map(([status, value]) => [
      status.toUpperCase(),
      textIn(objectAt(view.root, value), 'description'),
    ]),
  );
  const declared = statuses.filter((status) => status !== 'default');
  const shown = [
    ...(declared.some(isReceived) ? [] : ['2XX']),
    ...declared,
    ...(declared.includes(String(unsubscribeStatus)) ? [] : [String(unsubscribeStatus)]),
  ];
  const rows = shown.map((status) => {
    const text = written.get(status);
    return html`<li>
      <span class="status">${status.replace(/XX$/u, 'xx')}</span>
      <span><strong>${meaningOf(status, unsubscribeStatus)}</strong> ${text}</span>
    </li>`;
  });
  return html`<ul class="answers">
    ${rows}
    <li>
      <span class="status">other</span> <span><strong>Retried.</strong></span>
    </li>
  </ul>`;
}

function meaningOf(status: string, unsubscribeStatus: number): string {
  if (status === String(unsubscribeStatus)) return 'Ends the subscription.';
  return isReceived(status) ? 'Delivered.' : 'Retried.';
}

function isReceived(status: string): boolean {
  return status.startsWith('2');
}

// Renders runtime expressions so that they stand out from literal text.

export function expressionView(expression: Expression): Html {
  return html`<code class="expression">${printExpression(expression)}</code>`;
}

/** `{$request.query.url}?event={$request.query.event}`, in braces as in the key. */
export function templateView(template: Template): Html {
  const parts = template.map((part): Fragment =>
    part.kind === 'text'
      ? part.text
      : html`<span class="expression">{${printExpression(part.expression)}}</span>`,
  );
  return html`<code class="template">${parts}</code>`;
}

/** Text of the document that may be an expression, such as the value of a link parameter. */
export function sourceView(text: string): Html {
  const parsed = parseTemplate(text);
  const isExpression =
    parsed.kind === 'parsed' && parsed.template.some(({ kind }) => kind === 'expression');
  return isExpression ? html`<code class="expression">${text}</code>` : html`<code>${text}</code>`;
}

/** `/subscriptions/{id}` with its parameters highlighted. */
export function pathView(path: string): Html {
  const parts = path
    .split(/(\{[^{}]*\})/u)
    .map((part, index): Fragment => (index % 2 === 0 ? part : html`<var>${part}</var>`));
  return html`<code class="path">${parts}</code>`;
}
