// The subject of the store contract suites, and sample rows for them.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import type { App } from '../../src/core/domain/app.ts';
import type { Callback } from '../../src/core/domain/subscription.ts';
import type { World } from '../../src/core/base/world.ts';
import type { AttemptRecord } from '../../src/store/port/delivery-verbs.ts';
import type { NewKey, NewSubscription, Store } from '../../src/store/port/store.ts';
import { newId } from './open-memory.ts';

export interface Subject {
  store: Store;
  /** Closes the store and opens its data again; undefined if data does not survive a close. */
  reopen: (() => Promise<Store>) | undefined;
  dispose: () => Promise<void>;
}

export type OpenSubject = (world: Pick<World, 'nowMs'>) => Promise<Subject>;

export async function newApp(store: Store, key = newKey()): Promise<App> {
  const id = newId();
  const output = await store.edit('createApp', { id, name: `app ${id}`, key });
  assert(output.kind === 'created');
  return output.app;
}

export function newKey(changes: Partial<NewKey> = {}): NewKey {
  const id = newId();
  return {
    id: id.slice(-8),
    hash: digest(id),
    name: 'a key',
    scopes: ['subscribe'],
    expiresMs: undefined,
    ...changes,
  };
}

export function newSubscription(
  app: Pick<App, 'no'>,
  changes: Partial<NewSubscription> = {},
): NewSubscription {
  return {
    id: newId(),
    appNo: app.no,
    contract: 'Ringback',
    operation: 'subscribe',
    callbacks: [callback(0, '*')],
    secrets: digest('secrets'),
    ...changes,
  };
}

export function callback(position: number, event: string): Callback {
  return {
    position,
    label: 'myEvent',
    events: event.split(' '),
    definition: `subscribe/myEvent/${position}`,
    method: 'post',
    url: `https://receiver.example/${position}?event={eventType}`,
    inactive: undefined,
  };
}

/** A failed attempt, unless the changes say otherwise. */
export function attempt(changes: Partial<AttemptRecord> = {}): AttemptRecord {
  return {
    node: 1,
    startedMs: 1_700_000_000_000,
    tookMs: 12,
    status: 500,
    error: 'status',
    message: undefined,
    request: { method: 'post', url: 'https://receiver.example/0?event=a' },
    response: { headers: [['server', 'x']], body: Buffer.from('no'), cut: false },
    warning: undefined,
    ...changes,
  };
}

export function inactive(position: number, event: string): Callback {
  return { ...callback(position, event), url: '', inactive: 'body#/failedUrl is missing' };
}

/** Not a Buffer, as it would be compared with what a thread returns. */
export function digest(text: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(text).digest());
}

/** Bytes from a thread are Uint8Array, bytes made here may be Buffer: compare their values only. */
export function plain<T>(value: T): T {
  return structuredClone(value);
}
