// One operation: description, authentication, request and responses.
import { type JsonObject, isObject, own } from '../../contract/document/document.ts';
import type { Contract, Operation, Parameter, Scheme } from '../../contract/model/contract.ts';
import {
  schemeText,
  securityText,
  takenFrom,
  type RichText,
} from '../../contract/report/descriptions.ts';
import { scopeOf } from '../operations/authenticate.ts';
import { variantView, variantsView } from './callbacks.ts';
import { exampleView } from './example.ts';
import {
  type Fragment,
  type Html,
  type Row,
  details,
  html,
  join,
  list,
  table,
  richText,
} from './html.ts';
import { prose } from './prose.ts';
import { about, factsOf, readableSchema, schemaView, sentence } from './schema.ts';
import { printValue } from './value.ts';
import {
  type View,
  entriesOf,
  objectAt,
  parameterKey,
  summaryOf,
  textIn,
  writtenParameters,
} from './view.ts';

export function operationView(view: View, operation: Operation): Html {
  const { operationId, role } = operation;
  const anchor = view.anchors.get(operationId);
  const written = view.written(operation)?.operation ?? {};
  const intro = html`<div class="split-main">
    ${headView(view, operation)} ${written['deprecated'] === true ? deprecated : undefined}
    ${prose(textIn(written, 'description'))} ${factList(operation)}
  </div>`;
  const variants = role.kind === 'subscribe' ? role.variants : [];
  const [only] = variants.length === 1 ? variants : [];
  const inFull = html`<div class="split-main">
    ${only && variantView(view, operation, only)} ${parametersView(view, operation)}
    ${requestBodyView(view, operation)} ${responsesView(view, written)}
  </div>`;
  const example = html`<div class="split-side">${exampleView(view, operation, only)}</div>`;
  const content =
    variants.length > 1
      ? [intro, variantsView(view, operation, variants), inFull]
      : html`<div class="split">${intro} ${example} ${inFull}</div>`;
  return html`<article class="operation" id="${anchor}" aria-labelledby="${anchor}-title">
    ${content}
  </article>`;
}

const deprecated = html`<p class="notice">
  <strong>Deprecated.</strong> It still works, but do not use it in new code.
</p>`;

function headView(view: View, operation: Operation): Fragment {
  const { operationId, method, path } = operation;
  const anchor = view.anchors.get(operationId);
  const title = summaryOf(operation, view.written(operation));
  const parts = path
    .split(/(\{[^{}]*\})/u)
    .map((part, at) => (at % 2 === 0 ? part : html`<var>${part}</var>`));
  return html`<h3 id="${anchor}-title"><a href="#${anchor}">${title}</a></h3>
    <p class="route"><span class="method">${method}</span> <code class="path">${parts}</code></p>`;
}

function factList(operation: Operation): Html {
  const scope = operation.security.length === 0 ? undefined : scopeOf(operation);
  const { role } = operation;
  const facts: [string, Fragment][] = [
    ['Authentication', authenticationView(operation)],
    ['Scope', scope && html`<code>${scope}</code>`],
    [
      'Ends',
      role.kind === 'unsubscribe'
        ? `The subscription given by ${takenFrom(role)}, with all its callbacks`
        : undefined,
    ],
    ['Operation', html`<code>${operation.operationId}</code>`],
  ];
  return html`<dl class="facts">
    ${facts.map(([name, value]) => value && [html`<dt>${name}</dt>`, html`<dd>${value}</dd>`])}
  </dl>`;
}

function requestBodyView(view: View, operation: Operation): Fragment {
  const { body, role } = operation;
  if (body === undefined) return undefined;
  const written = objectAt(view.root, view.written(operation)?.operation['requestBody']);
  const content = entriesOf(objectAt(view.root, written['content']));
  // If the body is in another file, the contract of an executed operation still has it.
  const compiled = content.length > 0 || role.kind === 'managed' ? [] : [...body.content];
  const word = body.required ? 'required' : 'optional';
  return html`<section>
    <h4>Body <span class="${word}">${word}</span></h4>
    ${prose(textIn(written, 'description'))}
    ${content.map(([mediaType, value]) => bodyView(view, mediaType, value))}
    ${compiled.map(([mediaType, validator]) => {
      const { view: inside, schema } = readableSchema(view, undefined, validator);
      return bodyView(inside, mediaType, { schema });
    })}
  </section>`;
}

function parametersView(view: View, operation: Operation): Fragment {
  const { parameters, role } = operation;
  if (parameters.length === 0) return undefined;
  const found = view.written(operation);
  const places = found === undefined ? undefined : writtenParameters(view.root, found);
  const rows = parameters.map((parameter) => {
    const written = places?.get(parameterKey(parameter)) ?? {};
    const [content] = entriesOf(objectAt(view.root, written['content']));
    const schema = written['schema'] ?? objectAt(view.root, content?.[1])['schema'];
    const compiled = role.kind === 'managed' ? undefined : parameter.schema;
    return parameterRow(parameter, written, readableSchema(view, schema, compiled));
  });
  return html`<section>
    <h4>Parameters</h4>
    ${table('pairs', ['Name', 'Description'], rows)}
  </section>`;
}

function parameterRow(
  parameter: Parameter,
  written: JsonObject,
  { view, schema }: { view: View; schema: unknown },
): Row {
  const facts = factsOf(view.root, schema);
  const example = own(written, 'example');
  const shown = example === undefined ? facts : { ...facts, examples: [example] };
  const type = schema === undefined ? undefined : html`<span class="type">${facts.type}</span> `;
  const required = parameter.required ? html`<span class="required">required</span>` : undefined;
  const isNested = facts.properties.length > 0 || facts.branches.length > 0;
  return {
    cells: [
      html`<code class="name">${parameter.name}</code> <span class="place">${parameter.in}</span>`,
      html`<p class="property">${type}${required}</p>
        ${about(shown, textIn(written, 'description') ?? facts.description)}
        ${isNested ? schemaView(view, schema) : undefined}`,
    ],
  };
}

// The responses of an operation: successes in full, the rest collapsed.

function responsesView(view: View, operation: JsonObject): Fragment {
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
    ${list('responses', rows)}
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
  const names = content.map(([name]) => html`<code>${name}</code>`);
  return [details(names.length === 0 ? 'Headers' : join(names, ', '), all), links];
}

function bodyView(view: View, mediaType: string, value: unknown): Fragment {
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
    view.problemRef !== undefined && isObject(schema) && own(schema, '$ref') === view.problemRef
  );
}

function headersView(view: View, response: JsonObject): Fragment {
  const rows = entriesOf(objectAt(view.root, response['headers'])).map(
    ([name, value]) => html`<li>
      <p class="property"><code class="name">${name}</code> <span class="type">header</span></p>
      ${prose(textIn(objectAt(view.root, value), 'description'))}
    </li>`,
  );
  return rows.length === 0
    ? undefined
    : html`<div class="schema">${list('properties', rows)}</div>`;
}

/** `$response.body#/subscriberId` → `Id` of `unsubscribeOperation`, for each link. */
function linksView(view: View, response: JsonObject): Fragment {
  const links = entriesOf(objectAt(view.root, response['links'])).map(([name, value]) => {
    const link = objectAt(view.root, value);
    const operationId = textIn(link, 'operationId') ?? textIn(link, 'operationRef') ?? name;
    const anchor = view.anchors.get(operationId);
    const code = html`<code>${operationId}</code>`;
    const handed = entriesOf(objectAt(view.root, link['parameters'])).map(
      ([parameter, source]) =>
        html`<code class="expression">${printValue(source)}</code> <span class="arrow">→</span>
          <code>${parameter}</code>`,
    );
    return html`<li>
      <span class="words">Link</span>
      ${handed.length === 0 ? 'leads to ' : [join(handed, ', '), ' of ']}
      ${anchor === undefined ? code : html`<a href="#${anchor}">${code}</a>`}
    </li>`;
  });
  return list('links', links);
}

// How operations are authenticated, in the words of the report.

/** Sessions are described once, in the section: they are not for other programs. */
function authenticationView({ security }: Operation): Fragment {
  const forPrograms = security.filter(({ schemes }) => !schemes.some(isOfSession));
  return richText(capital(securityText(forPrograms.length === 0 ? security : forPrograms)));
}

function isOfSession({ credential }: Scheme): boolean {
  return credential === 'session' || credential === 'portal';
}

function capital([first = '', ...rest]: RichText): RichText {
  return [typeof first === 'string' ? sentence(first) : first, ...rest];
}

/** All schemes of a document. */
export function securitySection(view: View, contract: Contract): Html | undefined {
  const written = objectAt(view.root, view.root['components'], 'securitySchemes');
  const schemes = contract.operations[0]?.schemes ?? [];
  if (schemes.length === 0) return undefined;
  const rows = schemes.map((scheme) => {
    const declared = objectAt(view.root, written[scheme.name]);
    const words = html`<p>${richText(capital(schemeText(scheme)))}</p>`;
    return {
      cells: [
        html`<code>${scheme.name}</code> <span class="place">${textIn(declared, 'type')}</span>`,
        [words, prose(textIn(declared, 'description'))],
      ],
    };
  });
  return html`<section id="security" aria-labelledby="security-title">
    <h2 id="security-title">Authentication</h2>
    <p>
      Each operation lists the schemes it accepts. One of several is enough; schemes joined by “and”
      are required together. The examples read the key from <code>$KEY</code>.
    </p>
    ${table('pairs', ['Scheme', 'Location'], rows)}
  </section>`;
}
