// One operation: description, authentication, request and responses.
import type { Operation } from '../../contract/model/contract.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import { exampleView } from './example-view.ts';
import { pathView } from './expression-view.ts';
import { html } from './html.ts';
import type { Fragment, Html } from './html.ts';
import { parametersView } from './parameters.ts';
import { prose } from './prose.ts';
import { bodyView, responsesView } from './responses.ts';
import { scopeWords, authenticationWords } from './security.ts';
import { variantsView, variantView } from './variants.ts';
import { compiledSchema } from './view.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt, summaryOf, textIn } from './written.ts';

export function operationView(view: View, operation: Operation): Html {
  const { operationId, role } = operation;
  const anchor = view.anchors.get(operationId) ?? '';
  const written = view.written(operation);
  const intro = html`<div class="split-main">
    ${headView(operation, { anchor, title: summaryOf(operation, written) })}
    ${deprecation(written?.operation ?? {})}
    ${prose(written && textIn(written.operation, 'description'))} ${factList(operation)}
  </div>`;
  const variants = role.kind === 'subscribe' ? role.variants : [];
  const [only] = variants.length === 1 ? variants : [];
  const details = html`<div class="split-main">
    ${only === undefined ? undefined : variantView(view, operation, only)}
    ${parametersView(view, operation)} ${requestBodyView(view, operation)}
    ${responsesView(view, written?.operation ?? {})}
  </div>`;
  const example = html`<div class="split-side">${exampleView(view, operation, only)}</div>`;
  const content =
    variants.length > 1
      ? [intro, variantsView(view, operation, variants), details]
      : html`<div class="split">${intro} ${example} ${details}</div>`;
  return html`<article class="operation" id="${anchor}" aria-labelledby="${anchor}-title">
    ${content}
  </article>`;
}

function headView({ method, path }: Operation, at: { anchor: string; title: string }): Html {
  return html`<h3 id="${at.anchor}-title"><a href="#${at.anchor}">${at.title}</a></h3>
    <p class="route"><span class="method">${method}</span> ${pathView(path)}</p>`;
}

function deprecation(written: JsonObject): Fragment {
  return written['deprecated'] === true
    ? html`<p class="notice">
        <strong>Deprecated.</strong> It still works, but do not use it in new code.
      </p>`
    : undefined;
}

function factList(operation: Operation): Html {
  const { operationId, role } = operation;
  const scope = scopeWords(operation);
  const ends =
    role.kind === 'unsubscribe'
      ? html`<dt>Ends</dt>
          <dd>the subscription given by <code>${role.id.name}</code>, with all its callbacks</dd>`
      : undefined;
  return html`<dl class="facts">
    <dt>Authentication</dt>
    <dd>${authenticationWords(operation)}</dd>
    ${scope === undefined ? undefined : [html`<dt>Scope</dt>`, html`<dd>${scope}</dd>`]} ${ends}
    <dt>Operation</dt>
    <dd><code>${operationId}</code></dd>
  </dl>`;
}

/** If the body is in another file, the contract of a subscribe operation still has it. */
function requestBodyView(view: View, operation: Operation): Fragment {
  const { body, role } = operation;
  if (body === undefined) return undefined;
  const written = objectAt(view.root, view.written(operation)?.operation['requestBody']);
  const content = entriesOf(objectAt(view.root, written['content']));
  const compiled = content.length > 0 || role.kind === 'managed' ? [] : [...body.content];
  const word = body.required ? 'required' : 'optional';
  return html`<section>
    <h4>Body <span class="${word}">${word}</span></h4>
    ${prose(textIn(written, 'description'))}
    ${content.map(([mediaType, value]) => bodyView(view, mediaType, value))}
    ${compiled.map(([mediaType, validator]) => {
      if (validator === undefined) return html`<p class="brief"><code>${mediaType}</code></p>`;
      const { view: inside, schema } = compiledSchema(view, validator);
      return bodyView(inside, mediaType, { schema });
    })}
  </section>`;
}
