// Text with runtime expressions in braces, such as `{$request.body#/url}?event={$request.query.e}`.
// The first "}" closes an expression; outside braces every character is literal.
import { parseExpression, printExpression } from './expression.ts';
import type { Expression, Malformed } from './expression.ts';

export type Part = { kind: 'text'; text: string } | { kind: 'expression'; expression: Expression };

export type Template = readonly Part[];

export type ParsedTemplate = { kind: 'parsed'; template: Template } | Malformed;

export function parseTemplate(text: string): ParsedTemplate {
  const whole = parseExpression(text);
  if (whole.kind === 'parsed') return { kind: 'parsed', template: [expressionPart(whole)] };
  const template: Part[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{', at);
    const textEnd = open < 0 ? text.length : open;
    if (textEnd > at) template.push({ kind: 'text', text: text.slice(at, textEnd) });
    if (open < 0) break;
    const close = text.indexOf('}', open);
    if (close < 0) return { kind: 'malformed', at: text.length, expected: '"}"' };
    const inner = parseExpression(text.slice(open + 1, close));
    if (inner.kind === 'malformed') return { ...inner, at: open + 1 + inner.at };
    template.push(expressionPart(inner));
    at = close + 1;
  }
  return { kind: 'parsed', template };
}

/** In order, including repeated ones: for checks such as which credential carriers are named. */
export function expressionsOf(template: Template): readonly Expression[] {
  return template.flatMap((part) => (part.kind === 'expression' ? [part.expression] : []));
}

export function printTemplate(template: Template): string {
  return template
    .map((part) => (part.kind === 'text' ? part.text : `{${printExpression(part.expression)}}`))
    .join('');
}

function expressionPart({ expression }: { expression: Expression }): Part {
  return { kind: 'expression', expression };
}
