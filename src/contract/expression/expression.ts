// Parses and prints runtime expressions of OpenAPI. Names may contain dots, so they are never split
// on dots. Braces belong to the template around an expression and are refused inside it.
import { printPointer, unescapeToken } from '../../core/base/pointer.ts';

export type Side = 'request' | 'response';

export interface ParameterExpression {
  kind: 'header' | 'query' | 'path';
  from: Side;
  /** Of a header: in lower case. */
  name: string;
}

export interface BodyExpression {
  kind: 'body';
  from: Side;
  /** Decoded reference tokens; none means the whole body. */
  pointer: readonly string[];
}

export type Expression =
  | { kind: 'url' | 'method' | 'statusCode' }
  | ParameterExpression
  | BodyExpression;

/** Where parsing stopped (counted from 0) and what was expected there. */
export interface Malformed {
  kind: 'malformed';
  at: number;
  expected: string;
}

export type ParsedExpression = { kind: 'parsed'; expression: Expression } | Malformed;

const sides = ['request', 'response'] as const;
const tokenChars = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*/u;

export function parseExpression(text: string): ParsedExpression {
  const brace = text.search(/[{}]/u);
  if (brace >= 0) return malformed(brace, 'no brace inside an expression');
  if (text === '$url') return parsed({ kind: 'url' });
  if (text === '$method') return parsed({ kind: 'method' });
  if (text === '$statusCode') return parsed({ kind: 'statusCode' });
  for (const from of sides) {
    const start = `$${from}.`;
    if (text.startsWith(start)) return parseSource(from, { text, at: start.length });
  }
  return malformed(0, '"$url", "$method", "$statusCode", "$request." or "$response."');
}

/** Prints text that parses to the same expression. */
export function printExpression(expression: Expression): string {
  if (expression.kind === 'body') {
    const hash = expression.pointer.length === 0 ? '' : '#';
    return `$${expression.from}.body${hash}${printPointer(expression.pointer)}`;
  }
  if ('name' in expression) return `$${expression.from}.${expression.kind}.${expression.name}`;
  return `$${expression.kind}`;
}

/** A position in a text: everything from `at` on is still to be parsed. */
interface Rest {
  text: string;
  at: number;
}

function parseSource(from: Side, { text, at }: Rest): ParsedExpression {
  const source = text.slice(at);
  if (source.startsWith('header.')) return parseHeader(from, { text, at: at + 'header.'.length });
  for (const kind of ['query', 'path'] as const) {
    const start = `${kind}.`;
    if (source.startsWith(start)) {
      return parsed({ kind, from, name: source.slice(start.length) });
    }
  }
  if (source === 'body') return parsed({ kind: 'body', from, pointer: [] });
  if (source.startsWith('body#')) return parsePointer(from, { text, at: at + 'body#'.length });
  if (source.startsWith('body')) return malformed(at + 'body'.length, '"#" or the end');
  return malformed(at, '"header.", "query.", "path." or "body"');
}

function parseHeader(from: Side, { text, at }: Rest): ParsedExpression {
  const name = text.slice(at);
  const tokenEnd = tokenChars.exec(name)?.[0].length ?? 0;
  if (tokenEnd < name.length || name === '') {
    return malformed(at + tokenEnd, 'a character of a header name');
  }
  return parsed({ kind: 'header', from, name: name.toLowerCase() });
}

function parsePointer(from: Side, { text, at }: Rest): ParsedExpression {
  const pointer = text.slice(at);
  if (pointer === '') return parsed({ kind: 'body', from, pointer: [] });
  if (!pointer.startsWith('/')) return malformed(at, '"/" or the end');
  const badEscape = pointer.search(/~(?![01])/u);
  if (badEscape >= 0) return malformed(at + badEscape, '"~0" or "~1"');
  return parsed({ kind: 'body', from, pointer: pointer.slice(1).split('/').map(unescapeToken) });
}

function parsed(expression: Expression): ParsedExpression {
  return { kind: 'parsed', expression };
}

function malformed(at: number, expected: string): Malformed {
  return { kind: 'malformed', at, expected };
}
