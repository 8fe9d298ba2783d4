// Repairs callback keys of real documents. Only a mistake with exactly one possible meaning is
// repaired, and each repair reports what was found and how it was read.
import { printPointer } from '../../core/base/pointer.ts';
import { parseExpression, printExpression } from './expression.ts';
import type { Expression, Malformed } from './expression.ts';
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

export function repairKey(text: string, declaredBodyProperties: ReadonlySet<string>): RepairedKey {
  const repairs: string[] = [];
  const trimmed = text.trim();
  if (trimmed !== text) repairs.push(describeRepair({ found: text, read: trimmed, why: spaces }));
  const repaired = isBare(trimmed)
    ? repairExpression(trimmed, { declaredBodyProperties, repairs })
    : repairEmbedded(trimmed, { declaredBodyProperties, repairs });
  return judge(repaired, { declaredBodyProperties, repairs });
}

/** The input of a repair, and where it reports. */
interface Bench {
  declaredBodyProperties: ReadonlySet<string>;
  repairs: string[];
}

interface Fix {
  why: string;
  apply: (text: string, declared: ReadonlySet<string>) => string;
}

const spaces = 'surrounding spaces were removed';

/** In this order: each one sees the result of those before it. */
const fixes: readonly Fix[] = [
  { why: spaces, apply: (text) => text.trim() },
  { why: 'the request body declares a property of that name', apply: nameToPointer },
  {
    why: 'the "$" was missing',
    apply: (text) => text.replace(/^(?=(?:request|response)\.)/u, '$$'),
  },
  {
    why: 'the "/" after the "#" was missing',
    apply: (text) => text.replace(/^(\$(?:request|response)\.body#)(?=[^/])/u, '$1/'),
  },
];

function nameToPointer(text: string, declared: ReadonlySet<string>): string {
  if (!declared.has(text) || parseExpression(text).kind === 'parsed') return text;
  return printExpression({ kind: 'body', from: 'request', pointer: [text] });
}

/** An expression on its own, without braces. */
function isBare(text: string): boolean {
  return /^\$[^{}]*$/u.test(text);
}

function repairExpression(text: string, { declaredBodyProperties, repairs }: Bench): string {
  let read = text;
  for (const { why, apply } of fixes) {
    const found = read;
    read = apply(found, declaredBodyProperties);
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

function judge(text: string, { declaredBodyProperties, repairs }: Bench): RepairedKey {
  const whole = parseExpression(text);
  if (whole.kind === 'malformed' && isBare(text)) return unreadable(text, whole);
  const parsed = parseTemplate(text);
  if (parsed.kind === 'malformed') return unreadable(text, parsed);
  const { template } = parsed;
  const fault = templateFault(template);
  if (fault !== undefined) return { kind: 'unusable', reason: fault };
  const suggestions = [
    ...expressionsOf(template).flatMap((one) => suggestSlashes(one, declaredBodyProperties)),
    ...template.flatMap((part) => (part.kind === 'text' ? suggestBraces(part.text) : [])),
  ];
  return { kind: 'usable', text, template, repairs, suggestions };
}

function suggestSlashes(expression: Expression, declared: ReadonlySet<string>): string[] {
  if (expression.kind !== 'body' || expression.from !== 'request') return [];
  const [first = '', ...rest] = expression.pointer;
  if (declared.has(first) || !/^[^.]+(?:\.[^.]+)+$/u.test(first)) return [];
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
  const name = text[at - 1] === '{' ? ' or a property that the request body declares' : '';
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
