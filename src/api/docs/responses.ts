// The responses of an operation: successes in full, the rest collapsed.
import type { JsonObject } from '../../contract/document/document.ts';
import { isObject, own } from '../../contract/document/document.ts';
import { sourceView } from './expression-view.ts';
import { html, join } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { prose } from './prose.ts';
import { schemaView } from './schema-view.ts';
import { printValue } from './value.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt, textIn } from './written.ts';

export function responsesView(view: View, operation: JsonObject): Fragment {
  const responses = entriesOf(objectAt(view.root, operation['responses']));
  if (responses.length === 0) return undefined;
  const rows = responses.map(([status, value]) => {
    const response = objectAt(view.root, value);
    return html`<li>
      <span class="status">${status === 'default' ? 'other' : status}</span>
      <div>${prose(textIn(response, 'description'))} ${detailsOf(view, status, response)}</div>
    </li>`;
  });
  return html`<section>
    <h4>Responses</h4>
    <ul class="responses">
      ${rows}
    </ul>
  </section>`;
}

/** The schema shown in the errors section: the first named problem schema. */
export function findProblemRef(
  root: JsonObject,
  operations: readonly JsonObject[],
): string | undefined {
  for (const operation of operations) {
    for (const [, response] of entriesOf(objectAt(root, operation['responses']))) {
      const media = objectAt(root, response, 'content', 'application/problem+json');
      const ref = isObject(media['schema']) ? own(media['schema'], '$ref') : undefined;
      if (typeof ref === 'string') return ref;
    }
  }
  return undefined;
}

function detailsOf(view: View, status: string, response: JsonObject): Fragment {
  const content = entriesOf(objectAt(view.root, response['content']));
  const bodies = content.map(([mediaType, value]) => bodyView(view, mediaType, value));
  const all = [headersView(view, response), ...bodies].filter((one) => one !== undefined);
  const links = linksView(view, response);
  if (all.length === 0) return links;
  if (status.startsWith('2') || content.every(([, value]) => isShownOnce(view, value))) {
    return [all, links];
  }
  return [
    html`<details>
      <summary>${join(mediaNames(content), ', ')}</summary>
      ${all}
    </details>`,
    links,
  ];
}

function mediaNames(content: readonly [string, unknown][]): Fragment[] {
  return content.length === 0 ? ['Headers'] : content.map(([name]) => html`<code>${name}</code>`);
}

export function bodyView(view: View, mediaType: string, value: unknown): Fragment {
  const media = objectAt(view.root, value);
  const type = html`<code class="media">${mediaType}</code>`;
  if (isShownOnce(view, value)) {
    return html`<p class="brief">${type} <a href="#errors">standard error body</a></p>`;
  }
  if (media['schema'] === undefined) return html`<p class="brief">${type}</p>`;
  return html`<div class="body">${schemaView(view, media['schema'], mediaType)}</div>`;
}

function isShownOnce(view: View, value: unknown): boolean {
  const { schema } = objectAt(view.root, value);
  return (
    isObject(schema) && view.problemRef !== undefined && own(schema, '$ref') === view.problemRef
  );
}

function headersView(view: View, response: JsonObject): Fragment {
  const headers = entriesOf(objectAt(view.root, response['headers']));
  if (headers.length === 0) return undefined;
  const rows = headers.map(([name, value]) => {
    const header = objectAt(view.root, value);
    return html`<li>
      <p class="property"><code class="name">${name}</code> <span class="type">header</span></p>
      ${prose(textIn(header, 'description'))}
    </li>`;
  });
  return html`<div class="schema">
    <ul class="properties">
      ${rows}
    </ul>
  </div>`;
}

function linksView(view: View, response: JsonObject): Fragment {
  const links = entriesOf(objectAt(view.root, response['links']));
  return links.length === 0
    ? undefined
    : html`<ul class="links">
        ${links.map(([name, value]) => linkView(view, name, objectAt(view.root, value)))}
      </ul>`;
}

/** A link from the response to a parameter of another operation. */
function linkView(view: View, name: string, link: JsonObject): Html {
  const operationId = textIn(link, 'operationId') ?? textIn(link, 'operationRef') ?? name;
  const anchor = view.anchors.get(operationId);
  const code = html`<code>${operationId}</code>`;
  const target = anchor === undefined ? code : html`<a href="#${anchor}">${code}</a>`;
  const handed = entriesOf(objectAt(view.root, link['parameters'])).map(
    ([parameter, source]): Fragment =>
      html`${sourceView(printValue(source))} <span class="arrow">→</span>
        <code>${parameter}</code>`,
  );
  return html`<li>
    <span class="words">Link</span>
    ${handed.length === 0 ? 'leads to ' : [join(handed, ', '), ' of ']}${target}
  </li>`;
}
