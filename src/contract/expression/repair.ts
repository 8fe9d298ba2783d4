// Repairs callback keys of real documents. Only a mistake with exactly one possible meaning is
// repaired, and each repair reports what was found and how it was read.
import { printPointer } from '../../core/base/pointer.ts';
import { parseExpression, printExpression } from './expression.ts';
import type { Expression, Malformed, ParameterExpression } from './expression.ts';
import { templateFault } from './target.ts';
import { expressionsOf, parseTemplate } from './template.ts';
import type { Template } from './template.ts';

/** Suggestions are not applied: the key can run as written, but may be meant differently. */
export type RepairedKey =
  | {
      kind: 'usable';
      text: string;
      template: Template;
      repairs: string[];
      suggestions: string[];
    }
  | { kind: 'unusable'; reason: string };

/** What the request of the operation declares. */
export interface Declared {
  parameters: readonly { kind: ParameterExpression['kind']; name: string }[];
  hasProperty: (pointer: readonly string[]) => boolean;
}

export function repairKey(text: string, declared: Declared): RepairedKey {
  const repairs: string[] = [];
  const trimmed = text.trim();
  if (trimmed !== text) repairs.push(describeRepair({ found: text, read: trimmed, why: spaces }));
  const repaired = isBare(trimmed)
    ? repairExpression(trimmed, { declared, repairs })
    : repairEmbedded(trimmed, { declared, repairs });
  return checkRepaired(repaired, { declared, repairs });
}

/** The input of a repair, and where it reports. */
interface Bench {
  declared: Declared;
  repairs: string[];
}

interface Fix {
  why: string;
  apply: (text: string, declared: Declared) => string;
}

const spaces = 'surrounding spaces were removed';

/** In this order: each one sees the result of those before it. */
const fixes: readonly Fix[] = [
  { why: spaces, apply: (text) => text.trim() },
  { why: 'the request body declares a property of that name', apply: nameToPointer },
  { why: 'the operation declares a parameter of that name', apply: nameToParameter },
  {
    why: 'the "$" was missing',
    apply: (text) => text.replace(/^(?=(?:request|response)\.)/u, '$$'),
  },
  {
    why: 'the "/" after the "#" was missing',
    apply: (text) => text.replace(/^(\$(?:request|response)\.body#)(?=[^/])/u, '$1/'),
  },
  { why: 'only "#" and a pointer lead into a body', apply: dotsAfterBody },
  { why: 'the request body declares only the nested property', apply: dotsToSlashes },
];

/** `name`, or `$name` as some frameworks write it. A name with two meanings is not replaced. */
function nameToPointer(text: string, { hasProperty, parameters }: Declared): string {
  if (parseExpression(text).kind === 'parsed') return text;
  if (hasProperty([text])) return bodyAt([text]);
  const name = text.replace(/^\$/u, '');
  if (name === text || !hasProperty([name])) return text;
  return parameters.some((one) => isNamed(one, name)) ? text : bodyAt([name]);
}

function nameToParameter(text: string, { hasProperty, parameters }: Declared): string {
  const name = text.replace(/^\$/u, '');
  if (parseExpression(text).kind === 'parsed' || hasProperty([name])) return text;
  const [found, ...others] = parameters.filter((one) => isNamed(one, name));
  if (found === undefined || others.length > 0) return text;
  return printExpression({ ...found, from: 'request' });
}

function isNamed({ kind, name }: Declared['parameters'][number], text: string): boolean {
  return kind === 'header' ? name.toLowerCase() === text.toLowerCase() : name === text;
}

/** `$request.body.a.b`, where the schema declares `/a/b`. */
function dotsAfterBody(text: string, { hasProperty }: Declared): string {
  const path = /^\$request\.body\.(.+)$/u.exec(text)?.[1];
  if (path === undefined) return text;
  const readings = [[path], path.split('.')].filter(hasProperty);
  return readings[0] === undefined ? text : bodyAt(readings[0]);
}

/** `#/a.b`, where the schema declares `/a/b` and not "a.b". */
function dotsToSlashes(text: string, { hasProperty }: Declared): string {
  const parsed = parseExpression(text);
  if (parsed.kind === 'malformed' || parsed.expression.kind !== 'body') return text;
  const { from, pointer } = parsed.expression;
  const nested = pointer.flatMap((token) => token.split('.'));
  if (from === 'response' || nested.length === pointer.length) return text;
  return !hasProperty(pointer) && hasProperty(nested) ? bodyAt(nested) : text;
}

function bodyAt(pointer: readonly string[]): string {
  return printExpression({ kind: 'body', from: 'request', pointer });
}

/** An expression on its own, without braces. */
function isBare(text: string): boolean {
  return /^\$[^{}]*$/u.test(text);
}

function repairExpression(text: string, { declared, repairs }: Bench): string {
  let read = text;
  for (const { why, apply } of fixes) {
    const found = read;
    read = apply(found, declared);
    if (read !== found) repairs.push(describeRepair({ found, read, why }));
  }
  return read;
}

function repairEmbedded(text: string, bench: Bench): string {
  let repaired = '';
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf('{', at);
    if (open < 0) break;
    const close = text.indexOf('}', open);
    const end = close < 0 ? text.length : close;
    const inner = repairExpression(text.slice(open + 1, end), bench);
    repaired += `${text.slice(at, open)}{${inner}}`;
    if (close < 0) {
      const why = 'the final "}" was missing';
      bench.repairs.push(describeRepair({ found: `{${inner}`, read: `{${inner}}`, why }));
    }
    at = end + 1;
  }
  return repaired + text.slice(at);
}

function checkRepaired(text: string, { declared, repairs }: Bench): RepairedKey {
  const whole = parseExpression(text);
  if (whole.kind === 'malformed' && isBare(text)) return unreadable(text, whole);
  const parsed = parseTemplate(text);
  if (parsed.kind === 'malformed') return unreadable(text, parsed);
  const { template } = parsed;
  const fault = templateFault(template);
  if (fault !== undefined) return { kind: 'unusable', reason: fault };
  const suggestions = [
    ...expressionsOf(template).flatMap((one) => suggestSlashes(one, declared)),
    ...template.flatMap((part) => (part.kind === 'text' ? suggestBraces(part.text) : [])),
  ];
  return { kind: 'usable', text, template, repairs, suggestions };
}

function suggestSlashes(expression: Expression, { hasProperty }: Declared): string[] {
  if (expression.kind !== 'body' || expression.from !== 'request') return [];
  const [first = '', ...rest] = expression.pointer;
  if (hasProperty([first]) || !/^[^.]+(?:\.[^.]+)+$/u.test(first)) return [];
  const found = JSON.stringify(`#${printPointer(expression.pointer)}`);
  const meant = JSON.stringify(`#${printPointer([...first.split('.'), ...rest])}`);
  return [
    `found ${found}: the request body declares no property ${JSON.stringify(first)}; ` +
      `write ${meant} if you mean a nested property`,
  ];
}

function suggestBraces(text: string): string[] {
  const start = /\$(?:request|response)\./u.exec(text)?.[0];
  if (start === undefined) return [];
  return [`found "${start}" outside braces, read as literal text: expressions need braces here`];
}

function unreadable(text: string, { at, expected }: Malformed): RepairedKey {
  const code = text.codePointAt(at);
  const actual = code === undefined ? 'missing' : JSON.stringify(String.fromCodePoint(code));
  const name = text[at - 1] === '{' ? ' or a name that the request declares' : '';
  const place = `character ${at + 1} is ${actual}, expected ${expected}${name}`;
  return { kind: 'unusable', reason: `Cannot read callback key ${JSON.stringify(text)}: ${place}` };
}

function describeRepair({
  found,
  read,
  why,
}: {
  found: string;
  read: string;
  why: string;
}): string {
  return `found ${JSON.stringify(found)}, read as ${JSON.stringify(read)}: ${why}`;
}
