// Evaluates one expression against one exchange. Never throws; a missing value is named in a
// sentence.
import { printPointer, valueAt } from '../../core/base/pointer.ts';
import {
  printExpression,
  type BodyExpression,
  type Expression,
  type ParameterExpression,
} from './expression.ts';

/** The result as text, for a target. `event`: the event name, which is known only at delivery. */
export type Evaluated =
  | { kind: 'value'; text: string }
  | { kind: 'values'; texts: readonly string[] }
  | { kind: 'event' }
  | { kind: 'unresolved'; reason: string };

/** The result as any JSON value, for the parameters of a link. */
export type Resolved =
  | { kind: 'found'; value: unknown }
  | { kind: 'event' }
  | { kind: 'unresolved'; reason: string };

export function evaluate(expression: Expression, exchange: ExpressionInput): Evaluated {
  const resolved = resolve(expression, exchange);
  if (resolved.kind !== 'found') return resolved;
  const { value } = resolved;
  if (typeof value === 'string') return { kind: 'value', text: value };
  if (typeof value === 'number' || typeof value === 'boolean') {
    return { kind: 'value', text: String(value) };
  }
  if (isTexts(value)) return { kind: 'values', texts: value };
  return unresolved(
    `${printExpression(expression)} is ${describeValue(value)}, ` +
      'expected a string, a number, a boolean or a list of strings',
  );
}

export function resolve(expression: Expression, exchange: ExpressionInput): Resolved {
  if (expression.kind === 'body') return resolveBody(expression, exchange);
  if ('name' in expression) return resolveParameter(expression, exchange);
  const value = exchange[expression.kind];
  if (value === undefined) return unresolved('there is no status code yet');
  return { kind: 'found', value };
}

function resolveParameter(
  { kind, from, name }: ParameterExpression,
  exchange: ExpressionInput,
): Resolved {
  if (from === 'response' && kind !== 'header') {
    return unresolved(`a response has no ${kind} parameters`);
  }
  const message = exchange[from];
  if (message === undefined) return unresolved('there is no response yet');
  const value = message[kind].get(name);
  if (value !== undefined) return { kind: 'found', value };
  if (kind === 'path' && name === 'eventType') return { kind: 'event' };
  const noun = kind === 'header' ? 'header' : `${kind} parameter`;
  return unresolved(`the ${from} has no ${noun} ${JSON.stringify(name)}`);
}

function resolveBody({ from, pointer }: BodyExpression, exchange: ExpressionInput): Resolved {
  const message = exchange[from];
  if (message === undefined) return unresolved('there is no response yet');
  if (message.body === undefined) return unresolved(`the ${from} has no body`);
  const value = valueAt(message.body, pointer);
  if (value !== undefined) return { kind: 'found', value };
  const nothing = `the ${from} body has nothing at ${JSON.stringify(printPointer(pointer))}`;
  const undotted = pointer.flatMap((token) => token.split('.'));
  if (undotted.length === pointer.length || valueAt(message.body, undotted) === undefined) {
    return unresolved(nothing);
  }
  return unresolved(`${nothing}, but it has ${JSON.stringify(printPointer(undotted))}`);
}

function isTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
  );
}

function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (!Array.isArray(value)) return 'an object';
  return value.length === 0 ? 'an empty list' : 'a list with items that are not strings';
}

function unresolved(reason: string): { kind: 'unresolved'; reason: string } {
  return { kind: 'unresolved', reason };
}

// What a runtime expression can see of one subscribe request, as plain values. The caller must
// strip every credential and leave out everything that the contract does not declare; nothing is
// filtered later.

export interface ExpressionInput {
  /** Absolute URL of the subscribe request, with its query, without security parameters. */
  url: string;
  /** In a callback target: the method of the callback request. */
  method: string;
  /** Status of the composed response. */
  statusCode?: number;
  request: Message;
  /** The composed response. */
  response?: Message;
}

export interface Message {
  /** Names in lower case; only declared headers, plus accept and content-type. */
  header: ReadonlyMap<string, string>;
  /** Decoded and coerced values of the declared parameters. */
  query: ReadonlyMap<string, unknown>;
  path: ReadonlyMap<string, unknown>;
  /** Parsed JSON or a decoded form; undefined when there is none. */
  body: unknown;
}
