// Parses regular expressions that can be matched in linear time: no back references and no
// look-around, except look-aheads directly after the "^". Classes and escapes are not interpreted
// here: they stay text, for the engine's own matcher to decide one character at a time.
import { bounds } from '../document/bounds.ts';

export type Node =
  /** One character: `a`, `.`, `[a-z]`, `\d`. */
  | { kind: 'one'; source: string }
  | { kind: 'assert'; what: 'start' | 'end' | 'word edge' | 'no word edge' }
  | { kind: 'all'; parts: readonly Node[] }
  | { kind: 'any'; parts: readonly Node[] }
  | { kind: 'repeat'; part: Node; min: number; max: number };

export interface ParsedRegex {
  kind: 'parsed';
  main: Node;
  /** What must, or must not, match from the start of the text. */
  ahead: readonly { node: Node; wanted: boolean }[];
}

export type RegexParsing = ParsedRegex | { kind: 'unsupported'; reason: string };

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
