// One operation: description, authentication, request and responses.
import { own, type JsonObject } from '../../contract/document/document.ts';
import type { Operation, Parameter } from '../../contract/model/contract.ts';
import { exampleView } from './example.ts';
import { pathView } from './expression-view.ts';
import { html, type Fragment, type Html } from './html.ts';
import { prose } from './prose.ts';
import { bodyView, responsesView } from './responses.ts';
import { about, schemaView } from './schema-view.ts';
import { factsOf } from './schema.ts';
import { scopeWords, authenticationWords } from './security.ts';
import { variantsView, variantView } from './variants.ts';
import { compiledSchema, type View } from './view.ts';
import {
  entriesOf,
  objectAt,
  summaryOf,
  textIn,
  parameterKey,
  writtenParameters,
} from './written.ts';

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

// The parameters of an operation as a table.

function parametersView(view: View, operation: Operation): Fragment {
  const { parameters, role } = operation;
  if (parameters.length === 0) return undefined;
  const found = view.written(operation);
  const written = found === undefined ? undefined : writtenParameters(view.root, found);
  const rows = parameters.map((parameter) => {
    const here = written?.get(parameterKey(parameter)) ?? {};
    const schema = writtenSchema(view, here);
    if (schema !== undefined || parameter.schema === undefined || role.kind === 'managed') {
      return parameterRow({ view, parameter, written: here, schema });
    }
    return parameterRow({ ...compiledSchema(view, parameter.schema), parameter, written: here });
  });
  return html`<section>
    <h4>Parameters</h4>
    <table class="pairs">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Description</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

function writtenSchema({ root }: View, written: JsonObject): unknown {
  const [content] = entriesOf(objectAt(root, written['content']));
  return written['schema'] ?? objectAt(root, content?.[1])['schema'];
}

interface Row {
  view: View;
  parameter: Parameter;
  written: JsonObject;
  schema: unknown;
}

function parameterRow({ view, parameter, written, schema }: Row): Html {
  const facts = factsOf(view.root, schema);
  const example = own(written, 'example');
  const shown = example === undefined ? facts : { ...facts, examples: [example] };
  const type = schema === undefined ? undefined : html`<span class="type">${facts.type}</span> `;
  const required = parameter.required ? html`<span class="required">required</span>` : undefined;
  const isNested = facts.properties.length > 0 || facts.branches.length > 0;
  return html`<tr>
    <th scope="row">
      <code class="name">${parameter.name}</code>
      <span class="place">${parameter.in}</span>
    </th>
    <td>
      <p class="property">${type}${required}</p>
      ${about(shown, textIn(written, 'description') ?? facts.description)}
      ${isNested ? schemaView(view, schema) : undefined}
    </td>
  </tr>`;
}
