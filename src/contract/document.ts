// Reads one YAML or JSON file into plain values. Dates stay strings, merge keys work, nothing is
// executed, and nothing is ever fetched: only regular files of a bounded size are opened.
import { readFileSync, statSync } from 'node:fs';
import { CORE_SCHEMA, Type, load } from 'js-yaml';
import { bounds } from './bounds.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Document {
  path: string;
  root: unknown;
}

/** An OpenAPI document that cannot be executed: the mistake of whoever wrote it. */
export class ContractError extends Error {
  readonly file: string;
  /** JSON pointer of the place, as a fragment: `#/paths/~1subscribe`. */
  readonly pointer: string;

  constructor(message: string, options: { file: string; pointer?: string; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ContractError';
    this.file = options.file;
    this.pointer = options.pointer ?? '#';
  }
}

export function readDocument(path: string): Document {
  let text: string;
  try {
    const { size } = fileOf(path);
    if (size > bounds.documentBytesMax) {
      throw new RangeError(`it has ${size} bytes, expected at most ${bounds.documentBytesMax}`);
    }
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ContractError(`Cannot open ${JSON.stringify(path)}: ${reason(cause)}`, {
      file: path,
      cause,
    });
  }
  return { path, root: parse(text, path) };
}

/** A plain JSON object; arrays and null are none. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Array.isArray`, without letting `any` in. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** An own property: never something that the object inherits. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function fileOf(path: string): { size: number } {
  const file = statSync(path);
  if (!file.isFile()) throw new TypeError('it is no file, expected a regular file');
  return file;
}

/** The core schema knows no merge keys, but real documents use them. */
export const yamlSchema = CORE_SCHEMA.extend({
  implicit: [
    new Type('tag:yaml.org,2002:merge', {
      kind: 'scalar',
      resolve: (data: unknown) => data === '<<' || data === null,
    }),
  ],
});

function parse(text: string, path: string): unknown {
  try {
    // YAML takes almost all JSON, but not tabs as indentation, and it is slower.
    if (/\.json$/iu.test(path)) return JSON.parse(text.replace(/^\uFEFF/u, ''));
    return load(text, { filename: path, schema: yamlSchema });
  } catch (cause) {
    throw new ContractError(`Cannot read ${JSON.stringify(path)}: ${reason(cause)}`, {
      file: path,
      cause,
    });
  }
}

/** The first line only: the YAML reader adds a drawing of the place. */
function reason(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.split('\n', 1)[0] ?? text;
}
