// Edits by apps and subscribers, applied to the model and to the store.
import { strict as assert } from 'node:assert';
import type { FreshDelivery, Offer } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput } from '../../src/store/port/store.ts';
import { callback, newSubscription } from './subject.ts';
import { type Books, payloadOf } from './model-books.ts';
import { type Chosen, type Command, controlsOf } from './model-commands.ts';
import { newId } from './open-memory.ts';

const slots = 4;

export function subscribe(
  books: Books,
  { pattern, ...chosen }: Extract<Command, { kind: 'subscribe' }>,
): void {
  const callbacks = [callback(0, pattern), callback(1, 'a')];
  const subscription = newSubscription(books.app, { callbacks, controls: controlsOf(chosen) });
  books.store.edit('subscribe', { subscription, idempotency: undefined });
  books.subscriptions.push(subscription.id);
}

export function publish(
  books: Books,
  audience: EditInput<'publish'>['audience'],
  { name, events, room }: { name: string; events: number; room: number },
): string {
  const input: EditInput<'publish'> = {
    appNo: books.app.no,
    contract: 'Ringback',
    events: Array.from({ length: events }, () => ({
      id: books.newId(),
      name,
      payload: payloadOf(),
    })),
    audience,
    idempotency: undefined,
  };
  const offer = books.offer(room, slots);
  const { output, fresh } = books.store.offering(offer, 'publish', input);
  if (output.kind !== 'accepted') return output.kind;
  for (const { id, deliveries = 0 } of output.events) books.accept(id, deliveries);
  books.counts.published += output.events.length;
  assert(fresh.length <= room);
  for (const one of fresh) bear(books, one, offer, name);
  return output.kind;
}

function bear(books: Books, fresh: FreshDelivery, { lease }: Offer, eventName: string): void {
  const sent = { eventName, payload: payloadOf(), trace: undefined };
  books.hold({ ...fresh, ...sent, tries: 0, attempts: 0, lease });
}

export function address(
  books: Books,
  { who, how, room }: Extract<Command, { kind: 'address' }>,
): void {
  const id = books.subscriptions[who % Math.max(books.subscriptions.length, 1)] ?? newId();
  const found = books.store.read('subscription', { appNo: books.app.no, id });
  const isThere = found !== undefined && found.state !== 'ended';
  const kind = publish(books, { kind: how, id }, { name: 'a', events: 1, room });
  assert.equal(kind, isThere ? 'accepted' : 'not_found');
}

export function edit(
  books: Books,
  who: number,
  state: 'active' | 'paused' | undefined,
  chosen?: Chosen,
): void {
  const id = books.subscriptions[who % Math.max(books.subscriptions.length, 1)];
  if (id === undefined) return;
  const appNo = books.app.no;
  const found = books.store.read('subscription', { appNo, id });
  assert(found !== undefined);
  const { kind } = books.store.edit('editSubscription', {
    appNo,
    id,
    version: found.version,
    state,
    urls: [],
    secrets: undefined,
    chosen: chosen && { controls: controlsOf(chosen), headers: undefined },
  });
  assert.equal(kind, found.state === 'ended' ? 'ended' : 'edited');
}

export function unsubscribe(books: Books, who: number): void {
  const id = books.subscriptions[who % Math.max(books.subscriptions.length, 1)];
  if (id !== undefined) books.store.edit('unsubscribe', { appNo: books.app.no, id });
}

export function retry(books: Books, which: number): void {
  const key = [...books.deliveries.keys()][which % Math.max(books.deliveries.size, 1)];
  if (key === undefined) return;
  const [event = '', n] = key.split(' ');
  const before = books.deliveries.get(key);
  const output = books.store.edit('retryDelivery', {
    appNo: books.app.no,
    event,
    n: Number(n),
  });
  if (output.kind === 'due') {
    const isDead = before?.state === 'dead';
    assert.equal(output.n === Number(n), isDead);
    books.counts[isDead ? 'revived' : 'made'] += 1;
    if (isDead) books.set(key, 'due');
    else books.deliveries.set(`${event} ${output.n}`, { state: 'due', lane: before?.lane ?? 0 });
  } else {
    const isPending = before?.state === 'due' || before?.state === 'running';
    assert.equal(output.kind, isPending ? 'pending' : 'ended');
  }
}
