// Reads a JSON body strictly: valid UTF-8, bounded depth and size, no duplicate keys. Deep nesting
// and duplicate keys are legal JSON, but they crash or mislead later readers, so they are refused
// here. An opaque member belongs to the publisher: it is checked for depth and size only, and kept
// byte for byte.
import { limits } from '../limits/limits.ts';
import { printPointer } from './pointer.ts';

export type JsonReading =
  | {
      kind: 'value';
      value: unknown;
      /** The bytes of the opaque members, by JSON pointer. */
      opaque: ReadonlyMap<string, Uint8Array>;
    }
  | { kind: 'malformed'; message: string };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * How many values, and keys outside opaque members, may still be read. Several texts of one request
 * share it.
 */
export interface JsonBudget {
  nodes: number;
  keys: number;
}

export function jsonBudget(): JsonBudget {
  return { nodes: limits.jsonNodesMax, keys: limits.jsonKeysMax };
}

/** `opaque` names the members to keep as bytes, wherever they occur outside another one. */
export function readJson(
  bytes: Uint8Array,
  opaque?: string,
  budget: JsonBudget = jsonBudget(),
): JsonReading {
  return read(bytes, { within: opaque }, budget);
}

/** Reads JSON that is opaque as a whole: a payload without a request around it. */
export function readOpaqueJson(bytes: Uint8Array): JsonReading {
  return read(bytes, 'whole', jsonBudget());
}

/** What is kept as bytes: all of it, or the members with this name. */
type Opaque = 'whole' | { within: string | undefined };

function read(bytes: Uint8Array, opaque: Opaque, budget: JsonBudget): JsonReading {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return malformed('is not valid UTF-8');
  }
  const spans: Span[] = [];
  const flaw = scan(text, opaque, { spans, budget });
  if (flaw !== undefined) return malformed(flaw);
  try {
    const value: unknown = JSON.parse(text);
    const kept = new Map<string, Uint8Array>();
    for (const { pointer, from, to } of spans)
      kept.set(pointer, bytesOf({ text, bytes }, from, to));
    return { kind: 'value', value, opaque: kept };
  } catch (error) {
    return malformed(
      `is not valid JSON: ${error instanceof Error ? error.message : 'cannot be parsed'}`,
    );
  }
}

/**
 * The bytes of a part of the text, without surrounding whitespace. If all is ASCII, the indexes are
 * the same.
 */
function bytesOf(
  { text, bytes }: { text: string; bytes: Uint8Array },
  from: number,
  to: number,
): Uint8Array {
  if (text.length !== bytes.length) return Buffer.from(text.slice(from, to).trim());
  let [start, end] = [from, to];
  while (start < end && isSpace(text, start)) start += 1;
  while (end > start && isSpace(text, end - 1)) end -= 1;
  const part = bytes.subarray(start, end);
  // A subarray keeps the whole buffer alive, so share it only if the part is most of it.
  return 2 * part.length >= bytes.length ? part : Buffer.from(part);
}

/** JSON whitespace: space, tab, line feed, carriage return. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function malformed(message: string): JsonReading {
  return { kind: 'malformed', message };
}

/** Where an opaque member's value is in the text. */
interface Span {
  pointer: string;
  from: number;
  to: number;
}

/** An object or array that is open at the position of the scan. */
interface Frame {
  /**
   * Keys of an object so far. A list while they are few: building a set costs more than searching
   * the list.
   */
  keys: string[] | Set<string> | undefined;
  /** The member or item that the scan is in. */
  step: string | number;
  keyMayFollow: boolean;
}

/**
 * One pass over the text, without recursion. It looks only for what JSON.parse would accept. Inside
 * an opaque member it tracks neither pointers nor keys, only depth and size.
 */
function scan(
  text: string,
  opaque: Opaque,
  { spans, budget }: { spans: Span[]; budget: JsonBudget },
): string | undefined {
  const frames: Frame[] = [];
  const name = opaque === 'whole' ? undefined : opaque.within;
  let { nodes, keys } = budget;
  // An opaque text is one span that is open from the start and never closed.
  let open: { span: Span; depth: number } | undefined =
    opaque === 'whole' ? { span: { pointer: '', from: 0, to: 0 }, depth: -1 } : undefined;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      const end = endOfString(text, at);
      const frame = open === undefined ? frames.at(-1) : undefined;
      if (frame?.keyMayFollow === true) {
        frame.step = decodeKey(text.slice(at + 1, end));
        const flaw = keyFlaw(frame, frame.step);
        if (flaw !== undefined) return flaw;
        frame.keyMayFollow = false;
        keys -= 1;
        if (keys < 0) return `has more than ${limits.jsonKeysMax} keys`;
      }
      at = end;
    } else if (char === colon) {
      if (open === undefined && name !== undefined && frames.at(-1)?.step === name) {
        open = { span: { pointer: pointerOf(frames), from: at + 1, to: at }, depth: frames.length };
      }
    } else if (char === openBrace || char === openBracket) {
      nodes -= 1;
      frames.push(open === undefined ? openFrame(char) : within);
      if (frames.length > limits.jsonDepthMax) {
        return `is nested deeper than ${limits.jsonDepthMax} levels`;
      }
    } else if (char === comma || char === closeBrace || char === closeBracket) {
      if (open?.depth === frames.length) {
        open.span.to = at;
        spans.push(open.span);
        open = undefined;
      }
      if (char === comma) nodes -= 1;
      if (char !== comma) frames.pop();
      else if (open === undefined) nextIn(frames.at(-1));
    }
    if (nodes < 0) return `contains more than ${limits.jsonNodesMax} values`;
  }
  budget.nodes = nodes;
  budget.keys = keys;
  return undefined;
}

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Placeholder frame for everything that is open inside an opaque member. */
const within: Frame = { keys: undefined, step: '', keyMayFollow: false };

function openFrame(char: typeof openBrace | typeof openBracket): Frame {
  return char === openBrace
    ? { keys: [], step: '', keyMayFollow: true }
    : { keys: undefined, step: 0, keyMayFollow: false };
}

function nextIn(frame: Frame | undefined): void {
  if (frame === undefined) return;
  if (typeof frame.step === 'number') frame.step += 1;
  else frame.keyMayFollow = true;
}

const listedKeysMax = 16;

function keyFlaw(frame: Frame, key: string): string | undefined {
  const { keys = [] } = frame;
  const isKnown = Array.isArray(keys) ? keys.includes(key) : keys.has(key);
  if (isKnown) return `has the key ${JSON.stringify(key)} twice in one object`;
  if (key === '__proto__') return 'has the key "__proto__", which is not allowed';
  if (!Array.isArray(keys)) keys.add(key);
  else if (keys.length < listedKeysMax) keys.push(key);
  else frame.keys = new Set(keys).add(key);
  return undefined;
}

function pointerOf(frames: readonly Frame[]): string {
  return printPointer(frames.map(({ step }) => String(step)));
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    // An even number of backslashes escape each other.
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

/** `"\u0061"` and `"a"` are the same key. JSON.parse refuses what cannot be decoded. */
function decodeKey(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}
