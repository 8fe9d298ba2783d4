// The example of an operation: the request as a curl command, ready to paste, with $KEY for the API key, and a possible
// response. Values come from the examples of the document, otherwise they are made from the schemas.
import { at } from '../../contract/document/ref-node.ts';
import type { Operation, Parameter, Scheme, Variant } from '../../contract/model/contract.ts';
import { isJson } from '../../contract/model/media.ts';
import { draftRequest, type RequestDraft } from '../../contract/sample/sample-request.ts';
import { exampleAt } from '../../contract/sample/sample.ts';
import { html, type Fragment, type Html } from './html.ts';
import { quote, variableFor, type ShellPart } from './shell.ts';
import { printJson, printValue } from './value.ts';
import { jsonFirst, type View, entriesOf, objectAt } from './view.ts';

export function exampleView(view: View, operation: Operation, variant?: Variant): Html {
  const isOnly = variant === undefined || variant.name === '';
  const title = isOnly ? 'Example' : html`Example, variant <code>${variant.name}</code>`;
  return html`<div class="example">
    <figure>
      <figcaption>${title}</figcaption>
      <pre class="command"><code>${curl(view, operation, variant)}</code></pre>
    </figure>
    ${responseExample(view, operation, variant)}
  </div>`;
}

function responseExample(view: View, operation: Operation, variant: Variant | undefined): Fragment {
  const written = view.written(operation);
  const responses = entriesOf(objectAt(view.root, written?.operation['responses']));
  const wanted = variant === undefined ? undefined : String(variant.answer?.status);
  const successes = responses
    .filter(([status]) => status.startsWith('2'))
    .toSorted(([a], [b]) => a.localeCompare(b));
  const [status, response] = successes.find(([one]) => one === wanted) ?? successes[0] ?? [];
  if (written?.place === undefined || status === undefined) return undefined;
  const json = jsonFirst(Object.keys(objectAt(view.root, response, 'content')));
  const media = at(written.place, 'responses', status, 'content', json ?? '');
  if (json === undefined || media === undefined) return undefined;
  if (!isJson(json) && !json.includes('*')) return undefined;
  const sample = exampleAt(media, {
    wanted: [],
    shows: 'response',
    isBrief: true,
    work: view.work.responses,
  });
  if (sample.kind === 'none') return undefined;
  return html`<figure>
    <figcaption>Response <span class="status">${status}</span></figcaption>
    <pre><code>${printJson(sample.value)}</code></pre>
  </figure>`;
}

const origin = 'http://localhost:8080';

/** `variant`: the variant of a subscribe operation. */
export function curl(view: View, operation: Operation, variant?: Variant): string {
  const { parameters, body } = draftRequest(operation, variant, view.work.requests);
  const values = parameters.flatMap(valuesOf);
  const access = credentials(operation);
  const lines = [
    `curl ${methodOption(operation.method)}${quote(...urlOf(operation, values, access.query))}`,
    ...access.options,
    ...inPlace(values, 'header').map(({ name, piece }) => `-H ${quote(`${name}: `, piece)}`),
    ...inPlace(values, 'cookie').map(({ name, piece }) => `-b ${quote(`${name}=`, piece)}`),
    ...(body === undefined ? [] : bodyOptions(body)),
  ];
  return lines.join(' \\\n  ');
}

interface Value {
  parameter: Parameter;
  name: string;
  piece: ShellPart;
}

/** Only the reader knows a value that the document does not describe. */
function valuesOf({ parameter, texts }: RequestDraft['parameters'][number]): Value[] {
  const { name } = parameter;
  const isUnknown = texts.length === 0 || texts.some(([, text]) => text === 'string');
  if (isUnknown) return [{ parameter, name, piece: variableFor(name) }];
  return texts.map(([key, text]) => ({ parameter, name: key, piece: printValue(text) }));
}

function methodOption(method: string): string {
  if (method === 'GET') return '';
  return method === 'HEAD' ? '-I ' : `-X ${method} `;
}

function urlOf(
  { path }: Operation,
  values: readonly Value[],
  key: readonly ShellPart[],
): ShellPart[] {
  const given = new Map(inPlace(values, 'path').map(({ name, piece }) => [name, piece]));
  const way = path
    .split(/\{([^{}]+)\}/u)
    .map((part, index) =>
      index % 2 === 0
        ? encodeURI(part.toWellFormed())
        : encoded(given.get(part) ?? variableFor(part)),
    );
  const query = inPlace(values, 'query').map(({ name, piece }) => [
    `${encode(name)}=`,
    encoded(piece),
  ]);
  const all = key.length === 0 ? query : [...query, key];
  return [origin, ...way, ...all.flatMap((one, index) => [index === 0 ? '?' : '&', ...one])];
}

function inPlace(values: readonly Value[], place: Parameter['in']): Value[] {
  return values.filter(({ parameter }) => parameter.in === place);
}

function encoded(piece: ShellPart): ShellPart {
  return typeof piece === 'string' ? encode(piece) : piece;
}

/** ":" and "/" are valid in a query and easier to read unencoded. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replaceAll('%3A', ':')
    .replaceAll('%2F', '/')
    .replaceAll("'", '%27');
}

/**
 * The first alternative without a cookie or query parameter, which end up in logs; otherwise the
 * first.
 */
function credentials({ security }: Operation): { options: string[]; query: ShellPart[] } {
  if (security.some(({ schemes }) => schemes.length === 0)) return { options: [], query: [] };
  const chosen = security.find(({ schemes }) => schemes.every(isQuiet)) ?? security[0];
  const options: string[] = [];
  const query: ShellPart[] = [];
  for (const { carrier, credential } of chosen?.schemes ?? []) {
    const secret = { variable: variables[credential] };
    if (carrier.in === 'header') options.push(`-H ${quote(`${carrier.name}: `, secret)}`);
    if (carrier.in === 'bearer') options.push(`-H ${quote('Authorization: Bearer ', secret)}`);
    if (carrier.in === 'basic') options.push(`-u ${quote('key:', secret)}`);
    if (carrier.in === 'cookie') options.push(`-b ${quote(`${carrier.name}=`, secret)}`);
    if (carrier.in === 'query') query.push(`${encode(carrier.name)}=`, secret);
  }
  return { options, query };
}

const variables: Readonly<Record<Scheme['credential'], string>> = {
  key: 'KEY',
  app_id: 'APP_ID',
  session: 'SESSION',
  portal: 'SESSION',
};

function isQuiet({ carrier }: Scheme): boolean {
  return carrier.in === 'header' || carrier.in === 'bearer' || carrier.in === 'basic';
}

function bodyOptions(body: NonNullable<RequestDraft['body']>): string[] {
  const header = `-H ${quote(`Content-Type: ${body.mediaType}`)}`;
  if (!('text' in body) || body.mediaType === 'multipart/related') {
    return [header, "--data-binary '@body'"];
  }
  if (body.mediaType !== 'multipart/form-data') {
    const text = isJson(body.mediaType) ? printJson(body.value) : body.text;
    return [header, `-d ${quote(text)}`];
  }
  return body.fields.map(({ name, text, kind }) =>
    kind === 'file' ? `-F ${quote(`${name}=@file`)}` : `--form-string ${quote(`${name}=${text}`)}`,
  );
}
