// Describes parts of a contract in words: where a value is read, which URL is called, which key is
// needed.
import { printPointer } from '../../core/base/pointer.ts';
import type { Alternative, CallbackDefinition, Scheme } from '../model/contract.ts';
import type { Expression } from '../expression/expression.ts';
import type { Part, Template } from '../expression/template.ts';

/** `the request body at /callbackUrl`, `query parameter event`. */
export function sourceWords(expression: Expression): string {
  switch (expression.kind) {
    case 'url':
      return 'the URL of the request';
    case 'method':
      return 'the method of the callback';
    case 'statusCode':
      return 'the response status';
    case 'body': {
      const body = expression.from === 'request' ? 'the request body' : 'the response';
      return expression.pointer.length === 0
        ? body
        : `${body} at ${printPointer(expression.pointer)}`;
    }
    case 'path':
      if (expression.name === 'eventType') return 'the name of the event';
      return `${ofAnswer(expression.from)}path parameter ${expression.name}`;
    case 'query':
      return `${ofAnswer(expression.from)}query parameter ${expression.name}`;
    case 'header':
      return `${ofAnswer(expression.from)}header ${expression.name}`;
  }
}

function ofAnswer(from: string): string {
  return from === 'request' ? '' : "the answer's ";
}

/** `POST to the URL in query parameter callbackUrl + /data`. */
export function targetWords({
  method,
  target,
}: Pick<CallbackDefinition, 'method' | 'target'>): string {
  const parts = (target ?? []).map(partWords);
  return `${method} to ${parts.join(' + ')}`;
}

function partWords(part: Part, index: number): string {
  if (part.kind === 'text') return part.text;
  const words = sourceWords(part.expression);
  return index === 0 && part.expression.kind !== 'url' ? `the URL in ${words}` : words;
}

/** `onData`, `every event`, `the event in query parameter event`. */
export function eventWords(event: Template): string {
  const [first] = event;
  if (event.length === 1 && first?.kind === 'text') {
    return first.text === '*' ? 'every event' : first.text;
  }
  const parts = event.map((part) =>
    part.kind === 'text' ? `"${part.text}"` : sourceWords(part.expression),
  );
  return `the event in ${parts.join(' + ')}`;
}

/** `a key in header X-API-Key, or a key in query api_key and the app id in header X-APP-ID`. */
export function securityWords(security: readonly Alternative[]): string {
  if (security.length === 0) return 'no key';
  if (security.every(isShut))
    return 'cannot be called: none of its security alternatives is supported';
  const open = security.filter((one) => !isShut(one));
  const words = open.map(({ schemes }) => schemes.map(schemeWords).join(' and ') || 'no key');
  return [...new Set(words)].join(', or ');
}

/** Whether the operation can never be called. */
export function isShutDown(security: readonly Alternative[]): boolean {
  return security.length > 0 && security.every(isShut);
}

function isShut({ schemes }: Alternative): boolean {
  return schemes.some(({ carrier }) => carrier.in === 'nowhere');
}

const credentialNames: Readonly<Record<Scheme['credential'], string>> = {
  key: 'a key',
  app_id: 'the app id',
  session: 'a console session',
};

function schemeWords({ credential, carrier }: Scheme): string {
  const what = credentialNames[credential];
  switch (carrier.in) {
    case 'header':
    case 'query':
    case 'cookie':
      return `${what} in ${carrier.in} ${carrier.name}`;
    case 'bearer':
      return `${what} as bearer token`;
    case 'basic':
      return `${what} as password of basic authentication`;
    case 'nowhere':
      return `${what} that cannot be sent`;
  }
}
