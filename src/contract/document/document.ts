// Reads one YAML or JSON file into plain values. Dates stay strings and merge keys work. Nothing is
// executed or fetched: only regular files of a bounded size are opened.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { CORE_SCHEMA, Type, load } from 'js-yaml';
import { bounds } from './bounds.ts';

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
  const bytes = withFileError({ action: 'open', path }, () => readStable(path, budget));
  const root = withFileError({ action: 'read', path }, () => parse(bytes.toString(), path, budget));
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

function withFileError<T>({ action, path }: { action: string; path: string }, run: () => T): T {
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
  const size = measureJson(text);
  if (size.kind === 'flaw') throw new RangeError(size.reason);
  spendNodes(budget, size.nodes);
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
  const fault = sizeFault(root);
  if (fault !== undefined) throw new RangeError(fault);
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

// Measures the size of a document before any code walks through it: a few lines of YAML aliases can
// expand to a billion values, and a few megabytes of brackets to ten million. Never recursive.

type JsonSize = { kind: 'weighed'; nodes: number } | { kind: 'flaw'; reason: string };

/** Counts the values and keys of JSON text before it is parsed. Does not validate. */
export function measureJson(text: string): JsonSize {
  let depth = 0;
  let nodes = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      at = endOfString(text, at);
    } else if (code === comma || code === colon) {
      nodes += 1;
    } else if (code === openBrace || code === openBracket) {
      nodes += 1;
      depth += 1;
      if (depth > bounds.documentDepthMax) return { kind: 'flaw', reason: tooDeep };
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
    }
  }
  return { kind: 'weighed', nodes };
}

/**
 * Why values that may share parts are too large, with each part counted as often as it is reached.
 */
export function sizeFault(root: unknown): string | undefined {
  const weights = new Map<object, Weight | 'open'>();
  const frames: Frame[] = [];
  let last = measure(root, { weights, frames });
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (last === 'open') return circular;
    if (last !== undefined) add(frame, last);
    if (frame.nodes > bounds.documentNodesMax) return tooMany;
    if (frame.chars > bounds.documentCharsMax) return tooLong;
    if (frame.depth > bounds.documentDepthMax || frames.length > bounds.documentDepthMax) {
      return tooDeep;
    }
    if (frame.next < frame.members.length) {
      const member = frame.members[frame.next];
      frame.next += 1;
      last = measure(member, { weights, frames });
    } else {
      frames.pop();
      last = { nodes: frame.nodes, chars: frame.chars, depth: frame.depth };
      weights.set(frame.value, last);
    }
  }
  return undefined;
}

const [quote, comma, colon] = [0x22, 0x2c, 0x3a];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

const tooDeep = `it is nested deeper than ${bounds.documentDepthMax} levels`;
const tooLong = `it expands to more than ${bounds.documentCharsMax} characters`;
const circular = 'a value contains itself, through its alias';
const tooMany = `it contains more than ${bounds.documentNodesMax} values`;

interface Weight {
  nodes: number;
  chars: number;
  depth: number;
}

/** A list or an object that is being measured. */
interface Frame extends Weight {
  value: object;
  members: readonly unknown[];
  next: number;
}

interface MeasureState {
  weights: Map<object, Weight | 'open'>;
  frames: Frame[];
}

/** The weight, if it is known; else pushes a new frame. */
function measure(value: unknown, { weights, frames }: MeasureState): Weight | 'open' | undefined {
  if (typeof value === 'string') return { nodes: 1, chars: value.length, depth: 0 };
  if (typeof value !== 'object' || value === null) return { nodes: 1, chars: 8, depth: 0 };
  const known = weights.get(value);
  if (known !== undefined) return known;
  weights.set(value, 'open');
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  frames.push({
    value,
    members: Object.values(value),
    next: 0,
    nodes: 1 + keys.length,
    chars: keys.reduce((sum, key) => sum + key.length, 2),
    depth: 1,
  });
  return undefined;
}

function add(frame: Frame, { nodes, chars, depth }: Weight): void {
  frame.nodes += nodes;
  frame.chars += chars;
  frame.depth = Math.max(frame.depth, depth + 1);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}

// What was repaired, ignored or cannot run in a document, and where.

export interface Warning {
  /** Where in the document, `#/paths/~1x`; in another of its files: `common.yaml#/a/b`. */
  pointer: string;
  message: string;
}
