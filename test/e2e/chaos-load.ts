// Who uses the cluster under faults: publishers who repeat until they are answered, and subscribers who
// come, pause and go. What was asked and answered, and when, goes into the record.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { caller, type Caller, type Slot } from './chaos-nodes.ts';
import { names, randomOf, type Hears, type Life, type Plan } from './chaos-plan.ts';
import {
  chaosReceiver,
  printOf,
  type ChaosReceiver,
  type ChaosRecord,
  type Phase,
  type Subscription,
} from './chaos-record.ts';
import { nowMs } from './event-loop-lag.ts';

export interface Load extends AsyncDisposable {
  /** Those that are there before the first event; resolves when they are. */
  begin: () => Promise<void>;
  /** Publishes, subscribes, pauses and unsubscribes; resolves when every call was answered. */
  run: () => Promise<void>;
  planMs: () => number;
  phase: Phase;
  caller: Caller;
}

const publishers = 24;

export function createLoad(plan: Plan, slots: readonly Slot[], record: ChaosRecord): Load {
  const { seed } = plan;
  const receivers: ChaosReceiver[] = [];
  let startMs = nowMs();
  const callerOf = (purpose: number): Caller =>
    caller(slots, { record, random: randomOf(seed, purpose) });
  const load: Load = {
    phase: 'load',
    planMs: () => nowMs() - startMs,
    caller: callerOf(2),
    begin: async () => {
      const first = plan.lives.filter(({ fromMs }) => fromMs === -Infinity);
      await Promise.all(first.map(async (life, at) => live(life, at)));
      startMs = nowMs();
    },
    run: async () => {
      const later = plan.lives.filter(({ fromMs }) => fromMs !== -Infinity);
      await Promise.all([
        ...later.map(async (life, at) => live(life, 100 + at)),
        ...Array.from({ length: publishers }, async (_, at) => publishOn(at)),
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
    },
  };

  const until = async (atMs: number): Promise<void> => {
    const leftMs = atMs - load.planMs();
    if (leftMs > 0) await wait(leftMs);
  };

  const live = async (life: Life, at: number): Promise<void> => {
    await until(life.fromMs);
    const calls = callerOf(1_000 + at);
    const subscription = await subscribe(life, at, calls);
    if (life.pause !== undefined) {
      await until(life.pause.fromMs);
      await pause(subscription, calls, async () => until(life.pause?.toMs ?? 0));
    }
    if (life.unsubscribeMs === undefined) return;
    await until(life.unsubscribeMs);
    await unsubscribe(subscription, calls);
  };

  const subscribe = async (life: Life, at: number, calls: Caller): Promise<Subscription> => {
    const noted: { subscription: Subscription | undefined } = { subscription: undefined };
    let goneMs: number | undefined;
    const receiver = await chaosReceiver(life.manner, {
      record,
      random: randomOf(seed, 2_000 + at),
      planMs: load.planMs,
      phase: () => load.phase,
      onGone: () => {
        goneMs ??= nowMs();
        if (noted.subscription !== undefined) noteGone(noted.subscription, goneMs);
      },
    });
    receivers.push(receiver);
    const call = {
      method: 'POST',
      ...subscribing(life.hears, receiver.url),
      headers: { 'idempotency-key': `life ${at}` },
    };
    const { answer, askedMs, answeredMs } = await calls.insist(call, [200, 201]);
    const subscription: Subscription = {
      id: String(answer.json['subscriberId']),
      hears: life.hears,
      askedMs,
      answeredMs,
      endAskedMs: undefined,
      endAnsweredMs: undefined,
      saidGone: false,
      pauses: [],
    };
    noted.subscription = subscription;
    if (goneMs !== undefined) noteGone(subscription, goneMs);
    record.subscriptions.push(subscription);
    return subscription;
  };

  const publishOn = async (publisher: number): Promise<void> => {
    const random = randomOf(seed, 3_000 + publisher);
    const calls = callerOf(4_000 + publisher);
    const mine =
      Math.floor(plan.events / publishers) + (publisher < plan.events % publishers ? 1 : 0);
    for (let done = 0; done < mine;) {
      // Behind its time it hurries: what an outage held up comes at once.
      await until((plan.loadMs * done) / mine);
      const size = random() < 0.05 ? Math.min(10, mine - done) : 1;
      const events = Array.from({ length: size }, (_, i) => ({
        name: names[Math.floor(random() * names.length)] ?? names[0],
        payload: payloadOf(`${publisher}.${done + i}`),
      }));
      await publish({ events, key: `publisher ${publisher}, ${done}`, record, calls });
      done += size;
    }
  };
  return load;
}

interface Publishing {
  events: readonly { name: string; payload: string }[];
  key: string;
  record: ChaosRecord;
  calls: Caller;
}

async function publish({ events, key, record, calls }: Publishing): Promise<void> {
  const texts = events.map(({ name, payload }) => `{"event":"${name}","payload":${payload}}`);
  const isOne = texts.length === 1;
  const call = {
    method: 'POST',
    path: isOne ? '/events' : '/events/batch',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: isOne ? texts.join('') : `{"events":[${texts.join(',')}]}`,
  };
  const { answer, askedMs, answeredMs } = await calls.insist(call, [202]);
  const json = answer.json as unknown as { eventId: string } | { items: { eventId: string }[] };
  const ids = ('items' in json ? json.items : [json]).map(({ eventId }) => eventId);
  assert.equal(ids.length, events.length);
  for (const [at, { name, payload }] of events.entries()) {
    record.events.push({ id: ids[at] ?? '', name, print: printOf(payload), askedMs, answeredMs });
  }
}

async function pause(
  subscription: Subscription,
  calls: Caller,
  over: () => Promise<void>,
): Promise<void> {
  const path = `/subscriptions/${subscription.id}`;
  const set = async (state: string): Promise<{ askedMs: number; answeredMs: number }> => {
    // 409: its receiver wanted no more meanwhile.
    return calls.insist({ method: 'PATCH', path, body: { state } }, [200, 409]);
  };
  const paused = await set('paused');
  await over();
  const { askedMs } = await set('active');
  subscription.pauses.push({ answeredMs: paused.answeredMs, resumeAskedMs: askedMs });
}

async function unsubscribe(subscription: Subscription, calls: Caller): Promise<void> {
  subscription.endAskedMs ??= nowMs();
  const path = `/unsubscribe?Id=${subscription.id}`;
  const { answeredMs } = await calls.insist({ method: 'POST', path }, [200]);
  subscription.endAnsweredMs = answeredMs;
}

function noteGone(subscription: Subscription, atMs: number): void {
  subscription.saidGone = true;
  subscription.endAskedMs ??= atMs;
}

function subscribing(hears: Hears, url: string): { path: string; body?: object } {
  switch (hears.variant) {
    case 'body':
      return { path: '/subscribe', body: { callbackUrl: url } };
    case 'query': {
      const query = new URLSearchParams({ callbackUrl: url, event: hears.event });
      return { path: `/subscribe?${query.toString()}` };
    }
    case 'multi':
      return {
        path: '/subscribe',
        body: { inProgressUrl: url, failedUrl: url, successUrl: url },
      };
  }
}

/** Bytes that a parser and printer would change: order, big numbers, escapes, a key twice. */
function payloadOf(number: string): string {
  return `{ "z":9007199254740993,"message":"n\\u00famber ${number} ✓","a":1.0, "a":1e2 }`;
}
