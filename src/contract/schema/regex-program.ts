// Compiles a regular expression to instructions: each matches one character, splits, or asserts
// something about the position. Repetitions are unrolled, so check the size before compiling.
import { bounds } from '../document/bounds.ts';

export interface Program {
  isUnicode: boolean;
  /** Whether only a match from the start of the text counts. */
  isAnchored: boolean;
  /** Everything that can be reached from the instructions without reading a character. */
  reachable: (instructions: readonly number[], around: SurroundingText) => ReachableStates;
}

export interface SurroundingText {
  before: string;
  after: string;
}

export interface ReachableStates {
  /** The expression matches right here. */
  fits: boolean;
  waiting: readonly Waiting[];
  /** How many instructions were visited. */
  visited: number;
}

export interface Waiting {
  accepts: (code: number) => boolean;
  next: number;
}

type Instruction =
  | ({ kind: 'one' } & Waiting)
  | { kind: 'split'; targets: number[] }
  | { kind: 'assert'; holds: (around: SurroundingText) => boolean; next: number }
  | { kind: 'fit' };

/** Approximate number of instructions. */
export function programSize(node: Node): number {
  switch (node.kind) {
    case 'one':
    case 'assert':
      return 1;
    case 'all':
      return node.parts.reduce((sum, part) => sum + programSize(part), 1);
    case 'any':
      return node.parts.reduce((sum, part) => sum + programSize(part) + 1, 1);
    case 'repeat': {
      const { min, max } = node;
      const times = max === Infinity ? min + 1 : Math.max(min, max);
      return times * (programSize(node.part) + 1) + 1;
    }
  }
}

export function makeProgram(node: Node, isUnicode: boolean): Program {
  const instructions: Instruction[] = [];
  write(node, { instructions, matchers: new Map(), isUnicode });
  instructions.push({ kind: 'fit' });
  return {
    isUnicode,
    isAnchored: startsAnchored(node),
    reachable: (from, around) => reachable(instructions, from, around),
  };
}

function reachable(
  instructions: readonly Instruction[],
  from: readonly number[],
  around: SurroundingText,
): ReachableStates {
  const seen = new Set(from);
  const waiting: Waiting[] = [];
  let fits = false;
  for (const at of seen) {
    const instruction = instructions[at];
    if (instruction === undefined) continue;
    if (instruction.kind === 'one') waiting.push(instruction);
    if (instruction.kind === 'fit') fits = true;
    // The loop also visits entries that are added on the way.
    if (instruction.kind === 'split') for (const target of instruction.targets) seen.add(target);
    if (instruction.kind === 'assert' && instruction.holds(around)) seen.add(instruction.next);
  }
  return { fits, waiting, visited: seen.size };
}

interface Writer {
  instructions: Instruction[];
  /** By source text. */
  matchers: Map<string, Waiting['accepts']>;
  isUnicode: boolean;
}

/** Appends the instructions of a node. */
function write(node: Node, writer: Writer): void {
  const { instructions } = writer;
  const next = instructions.length + 1;
  switch (node.kind) {
    case 'one':
      instructions.push({ kind: 'one', accepts: matcherOf(node.source, writer), next });
      break;
    case 'assert':
      instructions.push({ kind: 'assert', holds: holds[node.what], next });
      break;
    case 'all':
      for (const part of node.parts) write(part, writer);
      break;
    case 'any':
      writeAny(node.parts, writer);
      break;
    case 'repeat':
      writeRepeat(node, writer);
      break;
  }
}

function writeAny(parts: readonly Node[], writer: Writer): void {
  const { instructions } = writer;
  const starts: number[] = [];
  const exits: number[][] = [];
  instructions.push({ kind: 'split', targets: starts });
  for (const part of parts) {
    starts.push(instructions.length);
    write(part, writer);
    const exit: number[] = [];
    exits.push(exit);
    instructions.push({ kind: 'split', targets: exit });
  }
  for (const exit of exits) exit.push(instructions.length);
}

/** `a{2,4}` is `aa(a(a)?)?`, and `a{2,}` is `aaa*`. */
function writeRepeat({ part, min, max }: Extract<Node, { kind: 'repeat' }>, writer: Writer): void {
  const { instructions } = writer;
  for (let count = 0; count < min; count += 1) write(part, writer);
  if (max === Infinity) {
    const start = instructions.length;
    const targets = [start + 1];
    instructions.push({ kind: 'split', targets });
    write(part, writer);
    instructions.push({ kind: 'split', targets: [start] });
    targets.push(instructions.length);
    return;
  }
  const exits: number[][] = [];
  for (let count = min; count < max; count += 1) {
    const targets = [instructions.length + 1];
    exits.push(targets);
    instructions.push({ kind: 'split', targets });
    write(part, writer);
  }
  for (const exit of exits) exit.push(instructions.length);
}

const holds: Readonly<
  Record<Extract<Node, { kind: 'assert' }>['what'], (around: SurroundingText) => boolean>
> = {
  start: ({ before }) => before === 'nothing',
  end: ({ after }) => after === 'nothing',
  'word edge': ({ before, after }) => (before === 'word') !== (after === 'word'),
  'no word edge': ({ before, after }) => (before === 'word') === (after === 'word'),
};

/** The engine matches single characters, because it knows what a class means. */
function matcherOf(source: string, { matchers, isUnicode }: Writer): Waiting['accepts'] {
  const known = matchers.get(source);
  if (known !== undefined) return known;
  const pattern = new RegExp(`^(?:${source})$`, isUnicode ? 'u' : '');
  const accepts = (code: number): boolean =>
    pattern.test(isUnicode ? String.fromCodePoint(code) : String.fromCharCode(code));
  matchers.set(source, accepts);
  return accepts;
}

function startsAnchored(node: Node): boolean {
  switch (node.kind) {
    case 'one':
      return false;
    case 'assert':
      return node.what === 'start';
    case 'all':
      return node.parts[0] !== undefined && startsAnchored(node.parts[0]);
    case 'any':
      return node.parts.every(startsAnchored);
    case 'repeat':
      return node.min > 0 && startsAnchored(node.part);
  }
}

// Parses regular expressions that can be matched in linear time: no back references and no
// look-around, except look-aheads directly after the "^". Classes and escapes are not interpreted
// here: they stay text, for the engine's own matcher to decide one character at a time.

export type Node =
  /** One character: `a`, `.`, `[a-z]`, `\d`. */
  | { kind: 'one'; source: string }
  | { kind: 'assert'; what: 'start' | 'end' | 'word edge' | 'no word edge' }
  | { kind: 'all'; parts: readonly Node[] }
  | { kind: 'any'; parts: readonly Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number };

interface ParsedRegex {
  kind: 'parsed';
  main: Node;
  /** What must, or must not, match from the start of the text. */
  ahead: readonly { node: Node; wanted: boolean }[];
}

type RegexParsing = ParsedRegex | { kind: 'unsupported'; reason: string };

/** The source must be a valid regular expression; `isUnicode` selects one of the two modes. */
export function parseRegex(source: string, isUnicode: boolean): RegexParsing {
  const reader: Reader = { source, isUnicode, at: 0, depth: 0 };
  try {
    const ahead = readAheads(reader);
    const main = readAny(reader);
    const anchored: Node = { kind: 'all', parts: [{ kind: 'assert', what: 'start' }, main] };
    if (ahead.length === 0) return { kind: 'parsed', main, ahead };
    // `^(?=a)b|c` would look ahead in its first half only.
    if (main.kind === 'any') throw new Unsupported('a lookahead inside an alternation');
    return { kind: 'parsed', main: anchored, ahead };
  } catch (error) {
    if (error instanceof Unsupported) return { kind: 'unsupported', reason: error.message };
    throw error;
  }
}

class Unsupported extends Error {}

interface Reader {
  source: string;
  isUnicode: boolean;
  at: number;
  depth: number;
}

function readAheads(reader: Reader): { node: Node; wanted: boolean }[] {
  const found: { node: Node; wanted: boolean }[] = [];
  if (!/^\^\(\?[=!]/u.test(reader.source)) return found;
  reader.at = 1;
  for (let sign = aheadAt(reader); sign !== undefined; sign = aheadAt(reader)) {
    reader.at += 3;
    const node = readAny(reader);
    reader.at += 1; // The ")".
    const quantified = quantifierAt(reader);
    if (quantified !== undefined) throw new Unsupported('a repeated lookahead');
    found.push({ node, wanted: sign === '=' });
  }
  return found;
}

function aheadAt({ source, at }: Reader): string | undefined {
  return /^\(\?([=!])/u.exec(source.slice(at, at + 3))?.[1];
}

/** Alternatives, up to the end or the closing ")". */
function readAny(reader: Reader): Node {
  reader.depth += 1;
  if (reader.depth > bounds.schemaDepthMax) throw new Unsupported('groups nested too deeply');
  const parts = [readAll(reader)];
  while (reader.source[reader.at] === '|') {
    reader.at += 1;
    parts.push(readAll(reader));
  }
  reader.depth -= 1;
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind: 'any', parts };
}

function readAll(reader: Reader): Node {
  const parts: Node[] = [];
  for (;;) {
    const char = reader.source[reader.at];
    if (char === undefined || char === '|' || char === ')') return { kind: 'all', parts };
    parts.push(readTerm(reader));
  }
}

function readTerm(reader: Reader): Node {
  const part = readAtom(reader);
  const quantifier = quantifierAt(reader);
  if (quantifier === undefined) return part;
  reader.at += quantifier.length;
  return { kind: 'repeat', part, min: quantifier.min, max: quantifier.max };
}

function readAtom(reader: Reader): Node {
  const { source, at } = reader;
  const char = source[at];
  if (char === '^' || char === '$') {
    reader.at += 1;
    return { kind: 'assert', what: char === '^' ? 'start' : 'end' };
  }
  if (char === '(') return readGroup(reader);
  const length = char === '[' ? classLength(source, at) : oneLength(reader);
  reader.at += length;
  const text = source.slice(at, at + length);
  if (text === String.raw`\b`) return { kind: 'assert', what: 'word edge' };
  if (text === String.raw`\B`) return { kind: 'assert', what: 'no word edge' };
  return { kind: 'one', source: text };
}

function readGroup(reader: Reader): Node {
  const rest = reader.source.slice(reader.at, reader.at + bounds.regexCharsMax);
  const opening = /^\((?:\?:|\?<[^=!>][^>]*>|(?!\?))/u.exec(rest)?.[0];
  if (opening === undefined) {
    throw new Unsupported(
      /^\(\?<?[=!]/u.test(rest) ? 'a lookaround' : 'an unsupported kind of group',
    );
  }
  reader.at += opening.length;
  const inside = readAny(reader);
  reader.at += 1; // The ")".
  return inside;
}

/** Up to the first "]" that is not escaped; the one in `[]` closes too. */
function classLength(source: string, start: number): number {
  let at = source[start + 1] === '^' ? start + 2 : start + 1;
  while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
  return at + 1 - start;
}

function oneLength({ source, isUnicode, at }: Reader): number {
  const rest = source.slice(at, at + bounds.regexCharsMax);
  if (!rest.startsWith('\\')) {
    return isUnicode ? String.fromCodePoint(rest.codePointAt(0) ?? 0).length : 1;
  }
  if (/^\\[1-9k]/u.test(rest)) throw new Unsupported('a back reference');
  if (/^\\(?:0\d|c(?![A-Za-z]))/u.test(rest)) throw new Unsupported('a legacy escape');
  const modern = String.raw`\\u\{[0-9A-Fa-f]+\}|\\u[Dd][89ABab]..\\u[Dd][C-Fc-f]..|\\[pP]\{[^}]*\}|`;
  const plain = String.raw`\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\c[A-Za-z]|\\.`;
  const escape = new RegExp(`^(?:${isUnicode ? modern : ''}${plain})`, 'su').exec(rest);
  return escape?.[0].length ?? 1;
}

function quantifierAt({
  source,
  at,
}: Reader): { length: number; min: number; max: number } | undefined {
  const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/u.exec(
    source.slice(at, at + quantifierChars),
  );
  if (found === null) return undefined;
  const [whole, least, comma, most] = found;
  const length = whole.length;
  if (least === undefined) {
    return { length, min: whole[0] === '+' ? 1 : 0, max: whole[0] === '?' ? 1 : Infinity };
  }
  const max = comma === undefined ? Number(least) : most === '' ? Infinity : Number(most);
  return { length, min: Number(least), max };
}

/** Enough for `{4294967295,4294967295}?`; a longer number would mean the same. */
const quantifierChars = 64;
