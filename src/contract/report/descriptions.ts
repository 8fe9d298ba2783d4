// Describes parts of a contract in words: where a value is read, which URL is called, which key is
// needed.
import { printPointer } from '../../core/base/pointer.ts';
import { limits } from '../../core/limits/limits.ts';
import { printDuration } from '../../core/base/parse-time.ts';
import type {
  Alternative,
  CallbackDefinition,
  Contract,
  Operation,
  Scheme,
  Subscribe,
  Unsubscribe,
} from '../model/contract.ts';
import type { Expression } from '../expression/expression.ts';
import type { Part, Template } from '../expression/template.ts';

/** A text, with the names from the document apart, so that a page can set them in code. */
export type RichText = readonly (string | { name: string })[];

export function plainText(words: RichText): string {
  return words.map((part) => (typeof part === 'string' ? part : part.name)).join('');
}

/** `the request body at /callbackUrl`, `query parameter event`. */
export function describeSource(expression: Expression): string {
  return plainText(sourceText(expression));
}

export function sourceText(expression: Expression): RichText {
  switch (expression.kind) {
    case 'url':
      return ['the URL of the request'];
    case 'method':
      return ['the method of the callback'];
    case 'statusCode':
      return ['the response status'];
    case 'body': {
      const body = expression.from === 'request' ? 'the request body' : 'the response';
      if (expression.pointer.length === 0) return [body];
      return [`${body} at `, { name: printPointer(expression.pointer) }];
    }
    case 'path':
      if (expression.name === 'eventType') return ['the name of the event'];
      return [`${ofAnswer(expression.from)}path parameter `, { name: expression.name }];
    case 'query':
      return [`${ofAnswer(expression.from)}query parameter `, { name: expression.name }];
    case 'header':
      return [`${ofAnswer(expression.from)}header `, { name: expression.name }];
  }
}

function ofAnswer(from: string): string {
  return from === 'request' ? '' : "the answer's ";
}

/** `POST to the URL in query parameter callbackUrl + /data`. */
export function describeTarget({
  method,
  target,
}: Pick<CallbackDefinition, 'method' | 'target'>): string {
  const parts = (target ?? []).map(describePart);
  return `${method} to ${parts.join(' + ')}`;
}

function describePart(part: Part, index: number): string {
  if (part.kind === 'text') return part.text;
  const words = describeSource(part.expression);
  return index === 0 && part.expression.kind !== 'url' ? `the URL in ${words}` : words;
}

/** `onData`, `every event`, `every event whose name starts with "order."`, `the event in query parameter event`. */
export function describeEvent(event: Template): string {
  const [first] = event;
  if (event.length === 1 && first?.kind === 'text') {
    if (first.text === '*') return 'every event';
    const prefix = first.text.endsWith('.*') ? first.text.slice(0, -1) : undefined;
    return prefix === undefined ? first.text : `every event whose name starts with "${prefix}"`;
  }
  return `the event in ${describeText(event)}`;
}

/** What its subscriptions are about: `the response at /id`. */
export function describeSubject({ subject }: Subscribe): string | undefined {
  return subject && describeText(subject);
}

/** Whose its subscriptions are: `header X-Account`. */
export function describeCustomer({ customer }: Subscribe): string | undefined {
  return customer && describeText(customer);
}

function describeText(template: Template): string {
  return template
    .map((part) => (part.kind === 'text' ? `"${part.text}"` : describeSource(part.expression)))
    .join(' + ');
}

/** The statuses by which an API accepts a request: `201 or 202`. */
export function describeAccepted({ accepts }: Subscribe): string {
  return accepts.length === 0 ? 'any 2xx' : accepts.join(' or ').replaceAll('XX', 'xx');
}

/** What ends the subscriptions of an operation, in words; a receiver that answers 410 always does. */
export function describeEnds(
  { operationId, method: own, role }: Operation,
  { operations }: Contract,
): string[] {
  if (role.kind !== 'subscribe') return [];
  const ended = operations.filter(
    (one) => one.role.kind === 'unsubscribe' && one.role.of.includes(operationId),
  );
  const { subject, expiresMs = subject && limits.subjectKeepMs } = role;
  const callbacks = role.variants.flatMap((variant) => variant.callbacks);
  const finals = new Set(callbacks.filter(({ isFinal }) => isFinal).map(({ label }) => label));
  return [
    ...[...finals].map((label) => `callback ${label}, once it is delivered or dead`),
    ...ended.map(({ method, path }) => `${method} ${path}`),
    ...(own === 'PUT' ? ['a later PUT to the same URL'] : []),
    ...(expiresMs === undefined ? [] : [`${printDuration(expiresMs)} after it was made`]),
  ];
}

/** Where an unsubscribe operation takes the subscriber id. */
export function takenFrom({ id }: Unsubscribe): string {
  return id === undefined ? 'the path' : `${id.in} parameter ${id.name}`;
}

/** `a key in header X-API-Key, or a key in query api_key and the app id in header X-APP-ID`. */
export function describeSecurity(security: readonly Alternative[]): string {
  return plainText(securityText(security));
}

export function securityText(security: readonly Alternative[]): RichText {
  if (security.length === 0) return ['no key'];
  if (isShutDown(security)) {
    return ['cannot be called: none of its security alternatives is supported'];
  }
  const open = security.filter((one) => !isShut(one));
  const alternatives = open.map(({ schemes }) =>
    schemes.length === 0 ? ['no key'] : joinText(schemes.map(schemeText), ' and '),
  );
  const different = new Map(alternatives.map((words) => [plainText(words), words]));
  return joinText([...different.values()], ', or ');
}

export function joinText(list: readonly RichText[], separator: string): RichText {
  return list.flatMap((words, index) => (index === 0 ? words : [separator, ...words]));
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
  portal: 'a portal session',
};

export function schemeText({ credential, carrier }: Scheme): RichText {
  const what = credentialNames[credential];
  switch (carrier.in) {
    case 'header':
    case 'query':
    case 'cookie':
      return [`${what} in ${carrier.in} `, { name: carrier.name }];
    case 'bearer':
      return [`${what} as bearer token`];
    case 'basic':
      return [`${what} as password of basic authentication`];
    case 'nowhere':
      return [`${what} that cannot be sent`];
  }
}
