// Converts rows to types, once, checking every value. A mismatch is a broken invariant.
import { AssertionError } from 'node:assert';
import type { App } from '../../core/domain/app.ts';
import { decodeControls, decodeFilter, type Controls } from '../../core/domain/controls.ts';
import { eventTypeStates, type EventType } from '../../core/domain/event.ts';
import type { Key } from '../../core/domain/key.ts';
import { scopes } from '../../core/domain/key.ts';
import type { Quotas } from '../../core/load/quotas.ts';
import {
  endReasons,
  type Callback,
  type Exchange,
  type Subscription,
  type SubscriptionState,
} from '../../core/domain/subscription.ts';
import { readPatterns } from './pattern-list.ts';

export type Row = Readonly<Record<string, unknown>>;

export function toApp(row: Row): App {
  return {
    no: integer(row, 'no'),
    id: text(row, 'id'),
    name: text(row, 'name'),
    createdMs: integer(row, 'created_ms'),
    quotas: toQuotas(row),
    subscriptions: integer(row, 'subscriptions'),
  };
}

/** The quotas in the settings of an app. */
export function toQuotas(row: Row): Quotas {
  const settings: unknown = JSON.parse(text(row, 'settings'));
  const quotas = memberOf(settings, 'quotas');
  const quota = (name: keyof Quotas): number | undefined => {
    const value = memberOf(quotas, name);
    return typeof value === 'number' ? value : undefined;
  };
  return {
    subscriptions: quota('subscriptions'),
    eventsPerSecond: quota('eventsPerSecond'),
    payloadBytes: quota('payloadBytes'),
  };
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

export function toKey(row: Row): Key {
  return {
    id: text(row, 'id'),
    appNo: integer(row, 'app'),
    appId: text(row, 'app_id'),
    appQuotas: toQuotas(row),
    appHasEventTypes: integer(row, 'has_event_types') === 1,
    name: text(row, 'name'),
    scopes: text(row, 'scopes')
      .split(' ')
      .map((scope) => oneOf(scopes, scope)),
    customer: maybe(text, row, 'customer'),
    hash: bytes(row, 'hash'),
    oldHash: maybe(bytes, row, 'old_hash'),
    oldUntilMs: maybe(integer, row, 'old_until_ms'),
    createdMs: integer(row, 'created_ms'),
    expiresMs: maybe(integer, row, 'expires_ms'),
    revokedMs: maybe(integer, row, 'revoked_ms'),
    usedMs: maybe(integer, row, 'used_ms'),
  };
}

export function toEventType(row: Row): EventType {
  return {
    name: text(row, 'name'),
    schema: text(row, 'schema'),
    description: maybe(text, row, 'description'),
    example: maybe(text, row, 'example'),
    state: oneOf(eventTypeStates, text(row, 'state')),
    version: integer(row, 'version'),
    createdMs: integer(row, 'created_ms'),
    updatedMs: integer(row, 'updated_ms'),
  };
}

export function toSubscription(row: Row, callbackRows: readonly Row[]): Subscription {
  return {
    id: text(row, 'id'),
    appNo: integer(row, 'app'),
    contract: text(row, 'contract'),
    operation: text(row, 'operation'),
    state: stateOf(row),
    subject: maybe(text, row, 'subject'),
    customer: maybe(text, row, 'customer'),
    callbacks: callbackRows.map(toCallback),
    secrets: ownBytes(row, 'secrets'),
    controls: toControls(row),
    headers: maybe(ownBytes, row, 'headers'),
    version: integer(row, 'version'),
    createdMs: integer(row, 'created_ms'),
    endedMs: maybe(integer, row, 'ended_ms'),
    endReason: endReasons.find((reason) => reason === row['end_reason']),
    confirmByMs: maybe(integer, row, 'confirm_by_ms'),
    exchange: toExchange(row),
  };
}

function toExchange(row: Row): Exchange | undefined {
  const requestId = maybe(text, row, 'request_id');
  return requestId === undefined
    ? undefined
    : { requestId, status: maybe(integer, row, 'answer_status') };
}

/** An unconfirmed subscription is paused as far as its lanes are concerned, and for nodes of an earlier version. */
function stateOf(row: Row): SubscriptionState {
  const state = oneOf(storedStates, text(row, 'state'));
  return state === 'paused' && row['confirm_by_ms'] !== null ? 'unconfirmed' : state;
}

const storedStates = ['active', 'paused', 'disabled', 'ended'] as const;

export function toControls(row: Row): Controls {
  const filter = maybe(text, row, 'filter');
  return decodeControls(text(row, 'settings'), {
    filter: filter === undefined ? undefined : decodeFilter(filter),
    ordered: integer(row, 'ordered') === 1,
    expiresMs: maybe(integer, row, 'expires_ms'),
  });
}

function toCallback(row: Row): Callback {
  return {
    position: integer(row, 'position'),
    label: text(row, 'label'),
    events: readPatterns(text(row, 'event')),
    definition: text(row, 'definition'),
    method: text(row, 'method'),
    url: text(row, 'url'),
    inactive: maybe(text, row, 'inactive'),
  };
}

export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : misfit(column, value, 'text');
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' && Number.isSafeInteger(value)
    ? value
    : misfit(column, value, 'an integer');
}

export function real(row: Row, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : misfit(column, value, 'a number');
}

export function bytes(row: Row, column: string): Uint8Array {
  const value = row[column];
  return value instanceof Uint8Array ? value : misfit(column, value, 'bytes');
}

/** For what is kept: the bytes alone, not as part of everything that was read with them. */
export function ownBytes(row: Row, column: string): Uint8Array {
  return new Uint8Array(bytes(row, column));
}

export function maybe<T>(
  parse: (row: Row, column: string) => T,
  row: Row,
  column: string,
): T | undefined {
  return row[column] === null ? undefined : parse(row, column);
}

/** Asserts that the statement returned a row. */
export function one(row: Row | undefined): Row {
  return row ?? broken('Cannot read a row: the statement gave none, expected one');
}

export function oneOf<T extends string>(known: readonly T[], value: string): T {
  return (
    known.find((candidate) => candidate === value) ??
    broken(`Cannot read a row: found "${value}", expected one of ${known.join(', ')}`)
  );
}

function misfit(column: string, value: unknown, expected: string): never {
  return broken(`Cannot read column "${column}": found ${typeof value}, expected ${expected}`);
}

function broken(message: string): never {
  throw new AssertionError({ message });
}
