// A curl command for an operation, ready to paste: built from the examples of the document, or from
// simple valid values, with $KEY for the API key.
import type { Operation, Parameter, Scheme, Variant } from '../../contract/model/contract.ts';
import type { JsonObject } from '../../contract/document/document.ts';
import type { Expression } from '../../contract/expression/expression.ts';
import { isJson } from '../../contract/model/media.ts';
import { expressionsOf } from '../../contract/expression/template.ts';
import { exampleBody } from './example-body.ts';
import { examplesBeside, givenSample, sampleOf } from './sample.ts';
import { factsOf } from './schema.ts';
import { quote, variableFor } from './shell.ts';
import type { Piece } from './shell.ts';
import { printJson, printValue } from './value.ts';
import type { View } from './view.ts';
import { entriesOf, objectAt, parameterKey, writtenParameters } from './written.ts';

const origin = 'http://localhost:8080';

/** `variant`: the variant of a subscribe operation. */
export function curl(view: View, operation: Operation, variant?: Variant): string {
  const named = variant === undefined ? [] : requestExpressions(variant);
  const values = parameterValues(view, operation, named);
  const access = credentials(operation);
  const lines = [
    `curl ${methodOption(operation.method)}${quote(...urlOf(operation, values, access.query))}`,
    ...access.options,
    ...values
      .filter(({ parameter }) => parameter.in === 'header')
      .map(({ parameter, pieces }) => `-H ${quote(`${parameter.name}: `, ...pieces)}`),
    ...values
      .filter(({ parameter }) => parameter.in === 'cookie')
      .map(({ parameter, pieces }) => `-b ${quote(`${parameter.name}=`, ...pieces)}`),
    ...bodyOptions(view, operation, variant),
  ];
  return lines.join(' \\\n  ');
}

/** Every part of the request that the variant or one of its callbacks reads. */
function requestExpressions({ needs, needsAny, callbacks }: Variant): Expression[] {
  const read = callbacks.flatMap(({ target, event }) => [
    ...expressionsOf(target ?? []),
    ...expressionsOf(event),
  ]);
  return [...needs, ...needsAny, ...read];
}

interface Value {
  parameter: Parameter;
  pieces: readonly Piece[];
}

/** The required parameters, and those that the variant reads. */
function parameterValues(
  view: View,
  operation: Operation,
  named: readonly Expression[],
): readonly Value[] {
  const written = view.written(operation);
  const all: ReadonlyMap<string, JsonObject> =
    written === undefined ? new Map() : writtenParameters(view.root, written);
  const names = new Set(
    named.flatMap((one) => ('name' in one && one.from === 'request' ? [parameterKeyOf(one)] : [])),
  );
  return operation.parameters
    .filter((one) => one.required || one.in === 'path' || names.has(parameterKey(one)))
    .map((parameter) => ({
      parameter,
      pieces: [pieceFor(view, parameter, all.get(parameterKey(parameter)) ?? {})],
    }));
}

function parameterKeyOf({ kind, name }: { kind: string; name: string }): string {
  return parameterKey({ in: kind, name });
}

function pieceFor(view: View, { name }: Parameter, written: JsonObject): Piece {
  const [beside] = examplesBeside(view.root, written);
  const [content] = entriesOf(objectAt(view.root, written['content']));
  const schema = written['schema'] ?? objectAt(view.root, content?.[1])['schema'];
  const facts = factsOf(view.root, schema);
  const sample = beside ?? givenSample(facts) ?? sampleOf(view.root, schema, 'request');
  const isUnknown = sample === undefined || sample === 'string';
  return isUnknown ? variableFor(name) : printValue(sample);
}

function methodOption(method: string): string {
  if (method === 'GET') return '';
  return method === 'HEAD' ? '-I ' : `-X ${method} `;
}

function urlOf({ path }: Operation, values: readonly Value[], key: readonly Piece[]): Piece[] {
  const given = new Map(
    values
      .filter(({ parameter }) => parameter.in === 'path')
      .map(({ parameter, pieces }) => [parameter.name, pieces]),
  );
  const way = path
    .split(/\{([^{}]+)\}/u)
    .flatMap((part, index): readonly Piece[] =>
      index % 2 === 0
        ? [encodeURI(part.toWellFormed())]
        : encoded(given.get(part) ?? [variableFor(part)]),
    );
  const query = values
    .filter(({ parameter }) => parameter.in === 'query')
    .map(({ parameter, pieces }) => [`${encode(parameter.name)}=`, ...encoded(pieces)]);
  const all = key.length === 0 ? query : [...query, key];
  return [origin, ...way, ...all.flatMap((one, index) => [index === 0 ? '?' : '&', ...one])];
}

function encoded(pieces: readonly Piece[]): Piece[] {
  return pieces.map((piece) => (typeof piece === 'string' ? encode(piece) : piece));
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
function credentials({ security }: Operation): { options: string[]; query: Piece[] } {
  if (security.some(({ schemes }) => schemes.length === 0)) return { options: [], query: [] };
  const chosen = security.find(({ schemes }) => schemes.every(isQuiet)) ?? security[0];
  const options: string[] = [];
  const query: Piece[] = [];
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
};

function isQuiet({ carrier }: Scheme): boolean {
  return carrier.in === 'header' || carrier.in === 'bearer' || carrier.in === 'basic';
}

function bodyOptions(view: View, operation: Operation, variant: Variant | undefined): string[] {
  const body = exampleBody(view, operation, variant);
  if (body === undefined) return [];
  const header = `-H ${quote(`Content-Type: ${body.mediaType}`)}`;
  if (!isJson(body.mediaType)) return [header, "--data-binary '@body'"];
  return [header, `-d ${quote(printJson(body.value))}`];
}
