// Formats JSON text for display without parsing its values, so that a number of 30 digits stays as
// it was written. Also accepts truncated JSON.
import { limits } from './limits.ts';

export type JsonPiece = {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'plain';
  readonly text: string;
};

// A string (perhaps truncated), a punctuator, white space, or anything else up to the next of
// these.
const token = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[{}[\],:]|[\s]+|[^\s"{}[\],:]+/gu;

/**
 * Indented, or undefined if it is not JSON (or, when truncated, does not start as an object or
 * array).
 */
export function indented(text: string, { isCut }: { isCut: boolean }): string | undefined {
  if (text.length > limits.prettyCharsMax) return undefined;
  if (isCut ? !/^\s*[{[]/u.test(text) : !isJson(text)) return undefined;
  return indent(text);
}

/** The source text of one member of a JSON object; undefined if it is absent. */
export function memberText(text: string, name: string): string | undefined {
  let depth = 0;
  let from: number | undefined;
  let last = '';
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found.trim() === '') continue;
    const ends = depth === 1 && (found === ',' || found === '}');
    if (ends && from !== undefined) return text.slice(from, index).trim();
    if (found === '{' || found === '[') depth += 1;
    if (found === '}' || found === ']') depth -= 1;
    if (depth === 1 && found === ':' && last === JSON.stringify(name)) from ??= index + 1;
    last = found;
  }
  return undefined;
}

/** Tokens for syntax highlighting. Concatenated they give the whole text. */
export function jsonPieces(text: string): JsonPiece[] {
  const found = text.match(token) ?? [];
  return found.map((piece, at) => ({ kind: kindOf(piece, found[at + 1]), text: piece }));
}

function kindOf(piece: string, next: string | undefined): JsonPiece['kind'] {
  if (piece.startsWith('"')) return next === ':' ? 'key' : 'string';
  if (/^[-0-9]/u.test(piece)) return 'number';
  return /^(?:true|false|null)$/u.test(piece) ? 'word' : 'plain';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function indent(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let last = '';
  for (const [piece] of text.matchAll(token)) {
    if (piece.trim() === '') continue;
    const closes = piece === '}' || piece === ']';
    if (closes) depth = Math.max(0, depth - 1);
    const isEmpty = closes && (last === '{' || last === '[');
    if (!isEmpty && (closes || last === '{' || last === '[' || last === ',')) {
      out.push(lineAt(depth));
    }
    out.push(piece === ':' ? ': ' : piece);
    if (piece === '{' || piece === '[') depth += 1;
    last = piece;
  }
  return out.join('');
}

/** Limits indentation, so that deep nesting does not push values out of view. */
const indentMax = 24;

function lineAt(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, indentMax))}`;
}
