// What the document adds to a callback, from one subscribe request: query parameters become part of
// the URL; headers, cookies and credentials are sealed with the subscription and never shown.
import { evaluate, resolve, type ExpressionInput } from '../../contract/expression/evaluate.ts';
import { appendQuery } from '../../contract/expression/target.ts';
import { expressionsOf, type Template } from '../../contract/expression/template.ts';
import type { Addition, CallbackDefinition } from '../../contract/model/contract.ts';
import { fieldOf } from '../../contract/model/variants.ts';
import { headerValueFault, type DeclaredHeader } from '../../core/domain/callback-headers.ts';
import { invalidRequest, type Problem } from '../../core/errors/problem.ts';

export interface Added {
  headers: readonly DeclaredHeader[];
  /** Percent-encoded pairs: `a=1&b=2`. */
  query: string;
  /** Why the callback cannot be made: a required value is missing. */
  missing: string | undefined;
}

/** Throws if the request has a value that cannot be sent. Messages never repeat the value. */
export function makeAdditions(
  { id, additions: declared }: Pick<CallbackDefinition, 'id' | 'additions'>,
  exchange: ExpressionInput,
  nowMs: number,
): Added {
  const additions = withOneAlternative(declared, exchange);
  const headers: DeclaredHeader[] = [];
  const cookies: string[] = [];
  let query = '';
  for (const addition of additions) {
    const texts = textsOf(addition.value, exchange);
    if (texts.kind === 'unresolved') {
      if (!addition.required) continue;
      const missing = `${addition.in} ${JSON.stringify(addition.name)}: ${texts.reason}`;
      return { headers: [], query: '', missing };
    }
    if (addition.in === 'query' && addition.isCredential) {
      const text = texts.texts.join(',');
      const fault = headerValueFault(text);
      if (fault !== undefined) throw refused(addition, fault);
      const header = [addition.name, text] as const;
      headers.push({ in: 'query', header, callback: id, expiresMs: undefined, origins: [] });
      continue;
    }
    if (addition.in === 'query') {
      for (const text of texts.texts) query = appendQuery(query, addition.name, text);
      continue;
    }
    const text = asWritten(addition, texts.texts.join(','));
    const isCookie = addition.in === 'cookie';
    const written = isCookie ? encodeURIComponent(text.toWellFormed()) : text;
    const fault = headerValueFault(written);
    if (fault !== undefined) throw refused(addition, fault);
    if (isCookie) {
      cookies.push(`${addition.name}=${written}`);
      continue;
    }
    const expiresMs = expiryOf(addition, exchange, nowMs);
    const origins = addition.isCredential ? [] : undefined;
    const header = [addition.name, written] as const;
    headers.push({ in: 'header', header, callback: id, expiresMs, origins });
  }
  if (cookies.length > 0) {
    const isCredential = additions.some((one) => one.in === 'cookie' && one.isCredential);
    const origins = isCredential ? [] : undefined;
    const header = ['cookie', cookies.join('; ')] as const;
    headers.push({ in: 'header', header, callback: id, expiresMs: undefined, origins });
  }
  return { headers, query, missing: undefined };
}

/** Without the credentials of other alternatives than the first one that the request has; else than the first. */
function withOneAlternative(
  additions: readonly Addition[],
  exchange: ExpressionInput,
): readonly Addition[] {
  const credentials = additions.filter(({ alternative }) => alternative !== undefined);
  const alternatives = Map.groupBy(credentials, ({ alternative }) => alternative);
  if (alternatives.size < 2) return additions;
  const isGiven = ({ value }: Addition): boolean => textsOf(value, exchange).kind === 'texts';
  const lists = [...alternatives.values()];
  const chosen = lists.find((list) => list.every(isGiven)) ?? lists[0] ?? [];
  return additions.filter((one) => one.alternative === undefined || chosen.includes(one));
}

type Texts = { kind: 'texts'; texts: readonly string[] } | { kind: 'unresolved'; reason: string };

/** The value as text; several only where it is one expression with a list. */
export function textsOf(value: Template, exchange: ExpressionInput): Texts {
  let whole = '';
  for (const part of value) {
    if (part.kind === 'text') {
      whole += part.text;
      continue;
    }
    const evaluated = evaluate(part.expression, exchange);
    switch (evaluated.kind) {
      case 'value':
        whole += evaluated.text;
        break;
      case 'values':
        if (value.length === 1) return { kind: 'texts', texts: evaluated.texts };
        return { kind: 'unresolved', reason: 'it is a list, expected one value inside text' };
      case 'event':
        return { kind: 'unresolved', reason: 'the name of the event is known only at delivery' };
      case 'unresolved':
        return evaluated;
    }
  }
  return { kind: 'texts', texts: [whole] };
}

function asWritten({ form }: Addition, text: string): string {
  if (form === 'plain') return text;
  return form === 'bearer' ? `Bearer ${text}` : `Basic ${Buffer.from(text).toString('base64')}`;
}

function expiryOf(
  addition: Addition,
  exchange: ExpressionInput,
  nowMs: number,
): number | undefined {
  if (addition.expires === undefined) return undefined;
  const resolved = resolve(addition.expires, exchange);
  const value = resolved.kind === 'found' ? resolved.value : null;
  if (value === null) return undefined;
  const expiresMs = typeof value === 'string' ? Date.parse(value) : NaN;
  const field = fieldOf(addition.expires);
  if (Number.isNaN(expiresMs)) {
    throw invalidRequest([{ field, message: 'is not a time, expected one as in RFC 3339' }]);
  }
  if (expiresMs > nowMs) return expiresMs;
  throw invalidRequest([{ field, message: 'is in the past, expected a credential that is valid' }]);
}

function refused({ value }: Addition, message: string): Problem {
  const [first] = expressionsOf(value);
  return invalidRequest([{ field: first === undefined ? 'body' : fieldOf(first), message }]);
}
