// Validates responses against the original document with ajv, so that Ringback's own reading of a schema does not
// decide whether its responses match.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { load } from 'js-yaml';
import type { Answer } from '../../api/harness.ts';

export interface Misfit {
  /** The property, as a JSON pointer; a header as `header Location`. */
  field: string;
  message: string;
  /** Inside a `oneOf` or `anyOf`, where each branch has its own faults. */
  isOfBranch: boolean;
}

export interface AnswerJudge {
  /** The parts of a 2xx response that the operation does not declare. `path` is the served path. */
  misfits: (operation: { method: string; path: string }, answer: Answer) => Misfit[];
}

type Json = Readonly<Record<string, unknown>>;

/** A value in a file: the target of a reference. */
interface Place {
  file: string;
  tokens: readonly string[];
  value: unknown;
}

export function openJudge(file: string): AnswerJudge {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false, logger: false });
  addFormats.default(ajv);
  const documents = new Map<string, unknown>();
  const read = (url: string): unknown => {
    const known = documents.get(url);
    if (known !== undefined) return known;
    const written = load(readFileSync(new URL(url), 'utf8'));
    const isOld = isJson(written) && String(written['openapi']).startsWith('3.0');
    const document = isOld ? modern(written) : written;
    documents.set(url, document);
    if (isJson(document)) ajv.addSchema(document, url);
    for (const other of filesIn(document, url)) read(other);
    return document;
  };
  const main = pathToFileURL(file).href;
  const root: Place = { file: main, tokens: [], value: read(main) };
  const child = (place: Place | undefined, ...names: readonly string[]): Place | undefined =>
    names.reduce<Place | undefined>((from, name) => {
      const { value } = from ?? {};
      if (from === undefined || !isJson(value) || !Object.hasOwn(value, name)) return undefined;
      const inside = { ...from, tokens: [...from.tokens, name], value: value[name] };
      return isJson(inside.value) && typeof inside.value['$ref'] === 'string'
        ? follow(inside, inside.value['$ref'])
        : inside;
    }, place);
  const follow = ({ file: from }: Place, ref: string): Place | undefined => {
    const [name = '', pointer = ''] = new URL(ref, from).href.split('#');
    const tokens = pointer.split('/').slice(1).map(unescaped);
    return child({ file: name, tokens: [], value: read(name) }, ...tokens);
  };
  const responseTo = (
    { method, path }: { method: string; path: string },
    status: number,
  ): Place | undefined => {
    const paths = child(root, 'paths');
    const names = isJson(paths?.value) ? Object.keys(paths.value) : [];
    const [name = ''] = names
      .filter((one) => path.endsWith(one) && child(paths, one, method.toLowerCase()) !== undefined)
      .toSorted((a, b) => b.length - a.length);
    const responses = child(paths, name, method.toLowerCase(), 'responses');
    const keys = [String(status), '2XX', '2xx', 'default'];
    return keys.map((key) => child(responses, key)).find((one) => one !== undefined);
  };
  return {
    misfits: (operation, { status, headers, text }) => {
      const response = responseTo(operation, status);
      if (response === undefined) return [misfit('', `the status ${status} is not declared`)];
      const faults = missingHeaders(child(response, 'headers')?.value, headers);
      const content = child(response, 'content');
      const types = isJson(content?.value) ? Object.keys(content.value) : [];
      if (types.length === 0 || status === 204 || status === 205) return faults;
      const [sent = ''] = (headers.get('content-type') ?? '').split(';');
      const type = types.find((one) => covers(one, sent));
      if (type === undefined) {
        return [...faults, misfit('', `the media type ${sent} is not declared`)];
      }
      const schema = child(content, type, 'schema');
      if (schema === undefined) return faults;
      const pointer = schema.tokens.map((token) => `/${encodeURIComponent(escaped(token))}`);
      const validate = ajv.compile({ $ref: `${schema.file}#${pointer.join('')}` });
      if (validate(JSON.parse(text))) return faults;
      const errors = (validate.errors ?? []).map(
        ({ instancePath, schemaPath, message, params }) => {
          const missing: unknown = params['missingProperty'] ?? params['additionalProperty'];
          const field = instancePath + (typeof missing === 'string' ? `/${escaped(missing)}` : '');
          const isOfBranch = /\/(?:oneOf|anyOf)(?:\/|$)/u.test(schemaPath);
          return { ...misfit(field, message ?? ''), isOfBranch };
        },
      );
      return [...faults, ...errors];
    },
  };
}

function misfit(field: string, message: string): Misfit {
  return { field, message, isOfBranch: false };
}

function missingHeaders(declared: unknown, headers: Headers): Misfit[] {
  return Object.entries(isJson(declared) ? declared : {})
    .filter(([name, one]) => isJson(one) && one['required'] === true && !headers.has(name))
    .map(([name]) => misfit(`header ${name}`, 'is required'));
}

/** Whether a declared media type, which may be a range, covers the one that was sent. */
function covers(declared: string, sent: string): boolean {
  const [essence = ''] = declared.toLowerCase().split(';');
  const [type = '', subtype = ''] = essence.trim().split('/');
  const [sentType = '', sentSubtype = ''] = sent.trim().toLowerCase().split('/');
  return (type === '*' || type === sentType) && (subtype === '*' || subtype === sentSubtype);
}

/** Converts the schemas of an OpenAPI 3.0 document to JSON Schema. */
function modern(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modern);
  if (!isJson(value)) return value;
  if (typeof value['$ref'] === 'string') return { $ref: value['$ref'] };
  const { nullable, ...rest } = value;
  const all = Object.entries(nullable === true || nullable === false ? rest : value);
  const copy = Object.fromEntries(all.map(([key, one]) => [key, modern(one)]));
  if (nullable === true && typeof copy['type'] === 'string') copy['type'] = [copy['type'], 'null'];
  if (nullable === true && Array.isArray(copy['enum'])) copy['enum'] = [...copy['enum'], null];
  for (const [exclusive, limit] of exclusives) {
    if (copy[exclusive] === true) copy[exclusive] = copy[limit];
    if (value[exclusive] === true) delete copy[limit];
    if (copy[exclusive] === false) delete copy[exclusive];
  }
  return copy;
}

const exclusives = [
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
] as const;

function filesIn(value: unknown, from: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => filesIn(one, from));
  if (!isJson(value)) return [];
  const { $ref } = value;
  const own =
    typeof $ref === 'string' && !$ref.startsWith('#')
      ? [new URL($ref, from).href.split('#')[0] ?? '']
      : [];
  return [...own, ...Object.values(value).flatMap((one) => filesIn(one, from))];
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escaped(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescaped(token: string): string {
  return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
}
