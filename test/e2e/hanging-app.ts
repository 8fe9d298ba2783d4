// An app whose receivers take each request and never answer it, and another app beside it whose receivers do.
import assert from 'node:assert/strict';
import type { Running } from '../api/harness.ts';
import { receiveRaw } from './raw-receiver.ts';
import { receive } from './receiver.ts';
import { publish, subscribe } from './stage.ts';

/** So many attempts hang for sure: an app may have half of the window of 256 for such receivers. */
const hangingMin = 96;

export interface HangingApp extends AsyncDisposable {
  /** Attempts that have ended. */
  ended: () => number;
  /** An event to the one receiver of the app that answers, and did before the others hung; until it came. */
  deliverToGood: () => Promise<void>;
  other: () => Promise<OtherApp>;
}

export interface OtherApp extends AsyncDisposable {
  /** Publishes so many events, and resolves when all have come. */
  deliver: (events: number) => Promise<void>;
  came: () => number;
}

/** Resolves when an event to each of its `holes` is published, and as many hang as may at least. */
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
  // Each to one of them, so that they need not be claimed: 640 would be a fan-out.
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

/** A few requests: on a busy machine, one for each event would take longer than receivers may hang. */
async function publishAll(service: Running, names: readonly string[]): Promise<void> {
  const all = names.map((event) => ({ event, payload: { message: 'hello' } }));
  for (let from = 0; from < all.length; from += groupMax) {
    const body = { events: all.slice(from, from + groupMax) };
    const answer = await service.call({ method: 'POST', path: '/events/batch', body });
    assert.equal(answer.status, 202, answer.text);
  }
}

const groupMax = 32;

/** Some at a time. */
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
