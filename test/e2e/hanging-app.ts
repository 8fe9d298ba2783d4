// An app whose receivers accept each request but never respond, and another app whose receivers do.
import assert from 'node:assert/strict';
import type { Running } from '../api/harness.ts';
import { receiveRaw } from './raw-receiver.ts';
import { receive } from './receiver.ts';
import { publish, subscribe } from './stage.ts';

/** At least this many attempts hang: such receivers may take up to half of the window of 256. */
const hangingMin = 96;

export interface HangingApp extends AsyncDisposable {
  /** Attempts that have ended. */
  ended: () => number;
  /** Delivers an event to the one working receiver of the app, which has proven itself before the others hung. */
  deliverToGood: () => Promise<void>;
  other: () => Promise<OtherApp>;
}

export interface OtherApp extends AsyncDisposable {
  /** Publishes that many events, and resolves when all have come. */
  deliver: (events: number) => Promise<void>;
  came: () => number;
}

/** Publishes an event to each of the hanging receivers, and resolves when at least `hangingMin` attempts hang. */
export async function startHangingApp(service: Running, holes: number): Promise<HangingApp> {
  const hole = await receiveRaw(() => undefined);
  const good = await receive();
  await subscribe(service, { callbackUrl: good.url, event: 'good' });
  const deliverToGood = async (): Promise<void> => {
    const came = good.requests.length;
    await publish(service, 'good');
    await good.waitFor(came + 1);
  };
  await deliverToGood();
  const names = await inGroups(holes, async (n) => {
    const event = `hole.${n}`;
    await subscribe(service, { callbackUrl: `${hole.url}/${n}`, event });
    return event;
  });
  // One event per receiver, because 640 receivers of one event would be a large fan-out.
  await publishAll(service, names);
  await hole.requests.reach(hangingMin);
  return {
    ended: () => hole.closed.count,
    deliverToGood,
    other: async () => otherApp(service),
    [Symbol.asyncDispose]: async () => {
      await hole[Symbol.asyncDispose]();
      await good[Symbol.asyncDispose]();
    },
  };
}

async function otherApp(service: Running): Promise<OtherApp> {
  const made = await service.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
  assert.equal(made.status, 201, made.text);
  const key = String(made.json['key']);
  const own: Running = { ...service, call: async (call) => service.call({ key, ...call }) };
  const receiver = await receive();
  await subscribe(own, receiver.url);
  return {
    deliver: async (events) => {
      const names = Array.from({ length: events }, () => 'a');
      await publishAll(own, names);
      await receiver.waitFor(events);
    },
    came: () => receiver.requests.length,
    [Symbol.asyncDispose]: async () => receiver[Symbol.asyncDispose](),
  };
}

/** In batches: on a busy machine, one request per event would take longer than receivers may hang. */
async function publishAll(service: Running, names: readonly string[]): Promise<void> {
  const all = names.map((event) => ({ event, payload: { message: 'hello' } }));
  for (let from = 0; from < all.length; from += groupMax) {
    const body = { events: all.slice(from, from + groupMax) };
    const answer = await service.call({ method: 'POST', path: '/events/batch', body });
    assert.equal(answer.status, 202, answer.text);
  }
}

const groupMax = 32;

/** Runs `act` in groups of limited size. */
async function inGroups<T>(count: number, act: (n: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let from = 0; from < count; from += groupMax) {
    const group = Array.from({ length: Math.min(groupMax, count - from) }, async (_, i) =>
      act(from + i),
    );
    all.push(...(await Promise.all(group)));
  }
  return all;
}
