// One operation: description, authentication, request and responses.
import { type JsonObject, isObject, own } from '../../contract/document/document.ts';
import type {
  Alternative,
  Carrier,
  Operation,
  Parameter,
  Scheme,
} from '../../contract/model/contract.ts';
import { isAppIdScheme, isSessionScheme } from '../../contract/model/security.ts';
import { scopeOf } from '../operations/authenticate.ts';
import { exampleView } from './example.ts';
import { type Fragment, type Html, html, join } from './html.ts';
import { prose } from './prose.ts';
import { about, factsOf, schemaView } from './schema.ts';
import { printValue } from './value.ts';
import { pathView, sourceView, variantView, variantsView } from './variants.ts';
import {
  type View,
  compiledSchema,
  entriesOf,
  objectAt,
  parameterKey,
  summaryOf,
  textIn,
  writtenParameters,
} from './view.ts';

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
          <dd>
            ${role.id === undefined ? 'the subscription of this path' : html`the subscription given by <code>${role.id.name}</code>`},
            with all its callbacks
          </dd>`
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

// The responses of an operation: successes in full, the rest collapsed.

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

// Describes the authentication of an operation, and the section on all schemes.

/**
 * "API key in header X-API-Key, or query api_key", with "and" where several are required together.
 */
export function authenticationWords({ security }: Pick<Operation, 'security'>): Fragment {
  if (security.length === 0) return 'None';
  if (security.some(({ schemes }) => schemes.some(isShut))) {
    return 'Not callable: no alternative of the document can be executed';
  }
  const isAnybody = security.some(({ schemes }) => schemes.length === 0);
  const keys = security.filter((one) => one.schemes.length > 0 && !isOfConsole(one));
  if (keys.length === 0 && !isAnybody) return 'Console session';
  const words = alternativeWords(keys);
  return isAnybody ? [words, ', or none'] : words;
}

export function scopeWords(operation: Operation): Fragment {
  const scope = scopeOf(operation);
  if (scope === undefined || operation.security.length === 0) return undefined;
  return html`<code>${scope}</code>`;
}

/** All schemes of a document. */
export function securitySection(view: View): Html | undefined {
  const schemes = entriesOf(objectAt(view.root, view.root['components'], 'securitySchemes'));
  if (schemes.length === 0) return undefined;
  const rows = schemes.map(([name, value]) => {
    const scheme = objectAt(view.root, value);
    return html`<tr>
      <th scope="row"><code>${name}</code></th>
      <td>${schemeWords(scheme)}${prose(textIn(scheme, 'description'))}</td>
    </tr>`;
  });
  return html`<section id="security" aria-labelledby="security-title">
    <h2 id="security-title">Authentication</h2>
    <p>
      Each operation lists the schemes it accepts. One of several is enough; schemes joined by “and”
      are required together. The examples read the key from <code>$KEY</code>.
    </p>
    <table class="pairs">
      <thead>
        <tr>
          <th scope="col">Scheme</th>
          <th scope="col">Location</th>
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </section>`;
}

/**
 * The console session is described once in the section: it is the same everywhere and not for other
 * programs.
 */
function isOfConsole({ schemes }: Alternative): boolean {
  return schemes.some(({ credential }) => credential === 'session');
}

function isShut({ carrier }: Scheme): boolean {
  return carrier.in === 'nowhere';
}

/** A prefix that all alternatives share is written once. */
function alternativeWords(alternatives: readonly Alternative[]): Fragment {
  const areSingleKeys = alternatives.every(
    ({ schemes }) => schemes.length === 1 && schemes[0]?.credential === 'key',
  );
  const phrases = alternatives.map(({ schemes }, index) => {
    const isFirst = index === 0;
    const words = schemes.map((scheme) =>
      areSingleKeys && !isFirst ? carrierWords(scheme.carrier) : credentialWords(scheme),
    );
    return join(words, ' and ');
  });
  return phrases.length === 0 ? 'None' : join(phrases, ', or ');
}

function credentialWords({ credential, carrier }: Scheme): Fragment {
  return [credential === 'app_id' ? 'app ID in ' : 'API key in ', carrierWords(carrier)];
}

function carrierWords(carrier: Carrier): Fragment {
  switch (carrier.in) {
    case 'header':
    case 'query':
    case 'cookie':
      return html`${carrier.in} <code>${carrier.name}</code>`;
    case 'bearer':
      return html`header <code>Authorization: Bearer</code>`;
    case 'basic':
      return html`header <code>Authorization: Basic</code>, as the password`;
    case 'nowhere':
      return 'a place that no request has';
  }
}

function credentialName(scheme: Readonly<Record<string, unknown>>): string {
  if (isSessionScheme(scheme)) return 'Console session';
  return isAppIdScheme(scheme) ? 'App ID' : 'API key';
}

function schemeWords(scheme: Readonly<Record<string, unknown>>): Fragment {
  const type = textIn(scheme, 'type') ?? 'unknown';
  if (type === 'apiKey') {
    return html`<p>
      ${credentialName(scheme)} in ${textIn(scheme, 'in')} <code>${textIn(scheme, 'name')}</code>
    </p>`;
  }
  const kind = [type, textIn(scheme, 'scheme')].filter((word) => word !== undefined).join(' ');
  const isBasic = textIn(scheme, 'scheme')?.toLowerCase() === 'basic';
  if (type === 'http' && isBasic) return html`<p>${kind}: the key is the password</p>`;
  if (type === 'mutualTLS') return html`<p>${kind}: not supported</p>`;
  return html`<p>${kind}: the key as <code>Authorization: Bearer</code></p>`;
}
