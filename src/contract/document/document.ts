// Reads one YAML or JSON file into plain values. Dates stay strings and merge keys work. Nothing is
// executed or fetched: only regular files of a bounded size are opened.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { CORE_SCHEMA, Type, load } from 'js-yaml';
import { bounds } from './bounds.ts';
import { tooMany, valueFlaw, weighJson } from './document-size.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface Document {
  path: string;
  root: unknown;
}

/** How much may still be read: one budget for all files of a contract. */
export interface Budget {
  bytes: number;
  nodes: number;
}

export function fullBudget(): Budget {
  return { bytes: bounds.documentBytesMax, nodes: bounds.documentNodesMax };
}

/** An OpenAPI document that cannot be executed: a mistake of its author. */
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

/** Subtracts its cost from the budget. */
export function readDocument(path: string, budget: Budget = fullBudget()): Document {
  const bytes = attempt({ action: 'open', path }, () => readStable(path, budget));
  const root = attempt({ action: 'read', path }, () => parse(bytes.toString(), path, budget));
  return { path, root };
}

/** Whether it is a plain JSON object; arrays and null are not. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Array.isArray`, but without introducing `any`. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** An own property, never an inherited one. */
export function own(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function attempt<T>({ action, path }: { action: string; path: string }, run: () => T): T {
  try {
    return run();
  } catch (cause) {
    throw new ContractError(`Cannot ${action} ${JSON.stringify(path)}: ${reason(cause)}`, {
      file: path,
      cause,
    });
  }
}

/**
 * A file that changes while it is read is read again, so that old and new parts are never mixed.
 */
function readStable(path: string, budget: Budget): Buffer {
  // Checked before it is opened: opening a device may already have an effect.
  checkFile(statSync(path));
  // If it has become a pipe since, O_NONBLOCK keeps the open from waiting for a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    for (let tries = 0; tries < bounds.readTriesMax; tries += 1) {
      const bytes = readOnce(file, budget);
      if (bytes === undefined) continue;
      budget.bytes -= bytes.length;
      return bytes;
    }
  } finally {
    closeSync(file);
  }
  throw new Error('it changed while being read');
}

function readOnce(file: number, budget: Budget): Buffer | undefined {
  const before = fstatSync(file, { bigint: true });
  checkFile(before);
  const size = Number(before.size);
  if (size > budget.bytes) {
    throw new RangeError(`it has ${size} bytes, expected at most ${budget.bytes}`);
  }
  const bytes = Buffer.alloc(size + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(file, bytes, length, bytes.length - length, length);
  }
  const after = fstatSync(file, { bigint: true });
  const isStable =
    length === size && after.size === before.size && after.mtimeNs === before.mtimeNs;
  return isStable ? bytes.subarray(0, size) : undefined;
}

function checkFile(file: { isFile: () => boolean }): void {
  if (!file.isFile()) throw new TypeError('it is not a regular file');
}

/** The core schema has no merge keys, but real documents use them. */
export const yamlSchema = CORE_SCHEMA.extend({
  implicit: [
    new Type('tag:yaml.org,2002:merge', {
      kind: 'scalar',
      resolve: (data: unknown) => data === '<<' || data === null,
    }),
  ],
});

function parse(text: string, path: string, budget: Budget): unknown {
  // YAML covers almost all JSON, but not tabs as indentation, and parsing it is slower.
  return /\.json$/iu.test(path) ? parseJson(text, budget) : parseYaml(text, path, budget);
}

function parseJson(text: string, budget: Budget): unknown {
  const weighing = weighJson(text);
  if (weighing.kind === 'flaw') throw new RangeError(weighing.reason);
  spendNodes(budget, weighing.nodes);
  return JSON.parse(text.replace(/^\uFEFF/u, ''));
}

function parseYaml(text: string, path: string, budget: Budget): unknown {
  const options = {
    filename: path,
    schema: yamlSchema,
    maxDepth: bounds.documentDepthMax,
    listener: (event: string): void => {
      if (event === 'open') spendNodes(budget, 1);
    },
  };
  const root = load(text, options);
  const flaw = valueFlaw(root);
  if (flaw !== undefined) throw new RangeError(flaw);
  return root;
}

function spendNodes(budget: Budget, nodes: number): void {
  budget.nodes -= nodes;
  if (budget.nodes < 0) throw new RangeError(tooMany);
}

/** Only the first line: the YAML parser appends an excerpt of the place. */
function reason(cause: unknown): string {
  const text = cause instanceof Error ? cause.message : String(cause);
  return text.split('\n', 1)[0] ?? text;
}
