// kill -9 of the real service at random moments under load, again and again on the same folder, and
// what must hold afterwards: nothing lost, nothing invented, no byte changed, few duplicates.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { newFolder, serve, type Serving } from '../cli/ringback-process.ts';
import { virtualWorld } from '../engine/virtual-world.ts';
import { checkLists, KillRecord } from './kill-record.ts';
import type { DeliveryRow, KillStats, Publishing } from './kill-record.ts';
import { payloadOf } from './payload.ts';
import { header, receive, type Receiver, type Reply } from './receiver.ts';
import { until } from './stage.ts';
import { Tally } from './awaitable-count.ts';

export interface KillReport {
  seed: number;
  kills: number;
  /** Events that were answered with 2xx, and requests that were not answered at all. */
  accepted: number;
  unanswered: number;
  callbacks: number;
  /** Deliveries that a receiver accepted more than once. */
  duplicates: number;
  /** The most that were under way at a kill, as receivers saw it. */
  underWayMax: number;
}

const key = 'k'.repeat(40);
const publishers = 4;

/** Throws when a promise is broken; every message holds the seed. */
export async function killRounds(rounds: number, seed: number): Promise<KillReport> {
  try {
    await using stage = await setUp(seed);
    for (let round = 1; round <= rounds; round += 1) {
      await stage.start();
      if (round % 3 === 1) await stage.subscribe();
      await stage.load(async () => {
        // A random number of answers, then a random moment between two of them.
        await stage.answered.reach(stage.answered.count + 3 + Math.floor(stage.random() * 40));
        await wait(stage.random() * 15);
        await stage.end('SIGKILL');
      });
    }
    await stage.start();
    await stage.repeatUnanswered();
    await stage.drain();
    await stage.check();
    return stage.report(rounds);
  } catch (error) {
    throw new Error(`kill -9, seed ${seed}: ${String(error)}`, { cause: error });
  }
}

export interface Stage extends AsyncDisposable {
  random: () => number;
  /** Events answered with 2xx, and callbacks that a receiver accepted for the first time. */
  answered: Tally;
  delivered: Tally;
  start: () => Promise<Serving>;
  /** A receiver of its own, and a subscription that hears everything published from now on. */
  subscribe: () => Promise<void>;
  /** Several publish, until `act` is over. */
  load: (act: () => Promise<void>) => Promise<void>;
  /** Ends the process by a signal and waits until it is gone. */
  end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<number | string>;
  /** What carried an idempotency key and got no answer is sent once more. */
  repeatUnanswered: () => Promise<void>;
  /** Waits until receivers and the API agree that all has ended. */
  drain: () => Promise<void>;
  /** All that must hold at the end. Gives the number of events that were kept without an answer. */
  check: () => Promise<number>;
  report: (kills: number) => KillReport;
}

interface Subscription {
  id: string;
  /** Events from this number on are for it. */
  from: number;
}

interface Sending {
  body?: string;
  headers?: Readonly<{ 'idempotency-key'?: string }>;
}

/** One request to publish; `numbers` are those of its events. */
export async function setUp(
  seed: number,
  answer: (random: () => number) => Reply | Promise<Reply> = anyAnswer,
): Promise<Stage> {
  const world = virtualWorld({ seed });
  const random = (): number => world.random();
  const folder = await newFolder();
  const receivers: Receiver[] = [];
  const subscriptions: Subscription[] = [];
  const publishings: Publishing[] = [];
  const numberOf = new Map<string, number>();
  const record = new KillRecord();
  const answered = new Tally('events were answered');
  let serving: Serving | undefined;
  let numbers = 0;

  const call = async (path: string, { body, headers }: Sending = {}): Promise<Response> =>
    fetch(`${serving?.url}${path}`, {
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });

  const publish = async (publishing: Publishing): Promise<void> => {
    const events = publishing.numbers.map((number) => {
      const payload = payloadOf(number);
      numberOf.set(sha256(payload), number);
      return `{"event":"load.number","payload":${payload}}`;
    });
    const isOne = events.length === 1;
    const response = await call(isOne ? '/events' : '/events/batch', {
      headers: publishing.key === undefined ? {} : { 'idempotency-key': publishing.key },
      body: isOne ? (events[0] ?? '') : `{"events":[${events.join(',')}]}`,
    });
    const text = await response.text();
    assert.ok(response.status === 202 || response.status === 503, text);
    if (response.status !== 202) return;
    const json = JSON.parse(text) as { eventId: string } | { items: { eventId: string }[] };
    publishing.ids = ('items' in json ? json.items : [json]).map(({ eventId }) => eventId);
    assert.equal(publishing.ids.length, events.length);
    for (const _ of events) answered.add();
  };

  const nextPublishing = (): Publishing => {
    const size = random() < 0.2 ? 10 : 1;
    const first = numbers;
    numbers += size;
    return {
      numbers: Array.from({ length: size }, (_, index) => first + index),
      key: random() < 0.5 ? `key ${first}` : undefined,
      ids: undefined,
    };
  };

  const all = async <T>(path: string): Promise<T[]> => {
    const items: T[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const response = await call(`${path}${path.includes('?') ? '&' : '?'}limit=500${more}`);
      assert.equal(response.status, 200);
      const page = (await response.json()) as { items: T[]; nextCursor: string | null };
      items.push(...page.items);
      cursor = page.nextCursor;
    }
    return items;
  };

  /** Event and subscription of everything that was promised. */
  const promised = (): { eventId: string; subscription: string; number: number }[] =>
    publishings.flatMap(({ numbers: ours, ids = [] }) =>
      ids.flatMap((eventId, index) => {
        const number = ours[index] ?? -1;
        return subscriptions
          .filter(({ from }) => number >= from)
          .map(({ id }) => ({ eventId, number, subscription: id }));
      }),
    );

  const stage: Stage = {
    random,
    answered,
    delivered: record.accepted,
    start: async () => {
      record.incarnation += 1;
      serving = await serve({
        RINGBACK_DATA: folder.path,
        RINGBACK_API_KEY: key,
        RINGBACK_LOG: 'silent',
        RINGBACK_RETRY: Array.from({ length: 12 }, () => '200ms').join(','),
      });
      return serving;
    },
    subscribe: async () => {
      const receiver = await receive(async (request) => {
        const delivery = {
          subscription: header(request, 'ringback-subscription'),
          eventId: header(request, 'webhook-id'),
        };
        const number = numberOf.get(sha256(request.body));
        const arrival = record.came(delivery, number);
        const reply = await answer(random);
        if (reply === 200) record.accept(delivery, arrival);
        record.left();
        return reply;
      });
      receivers.push(receiver);
      const body = JSON.stringify({ callbackUrl: receiver.url });
      const response = await call('/subscribe', { body });
      assert.equal(response.status, 201);
      const { subscriberId } = (await response.json()) as { subscriberId: string };
      subscriptions.push({ id: subscriberId, from: numbers });
    },
    load: async (act) => {
      const over = new AbortController();
      const one = async (): Promise<void> => {
        while (!over.signal.aborted) {
          const publishing = nextPublishing();
          publishings.push(publishing);
          // The connection breaks when the process ends; nothing else may go wrong.
          await publish(publishing).catch((error: unknown) => {
            if (!(error instanceof TypeError)) throw error;
            over.abort();
          });
        }
      };
      const loads = Array.from({ length: publishers }, one);
      await act().finally(() => over.abort());
      await Promise.all(loads);
    },
    end: async (signal) => {
      record.noteKill();
      serving?.signal(signal);
      const code = (await serving?.ended) ?? 'not running';
      // What the dead process has sent is in the receivers' sockets: read it before the next one starts.
      for (let turn = 0; turn < 50; turn += 1) await new Promise((next) => setImmediate(next));
      return code;
    },
    repeatUnanswered: async () => {
      for (const publishing of publishings) {
        if (publishing.ids !== undefined || publishing.key === undefined) continue;
        await publish(publishing);
        assert.ok(publishing.ids, 'a repeated request is answered');
      }
    },
    drain: async () => {
      for (const one of promised()) record.expect(one);
      await record.allExpected();
      const waiting = async (): Promise<number> => {
        // One may go back from running to due between two looks, so the first is made again.
        let count = 0;
        for (const state of ['due', 'running', 'due']) {
          count += (await all(`/deliveries?state=${state}`)).length;
        }
        return count;
      };
      assert.equal(await until(waiting, (count) => count === 0), 0);
    },
    check: async () => {
      record.check();
      const events = await all<{ id: string; deliveries: number }>('/events');
      const deliveries = await all<DeliveryRow>('/deliveries');
      const stats = (await (await call('/stats?range=1h')).json()) as KillStats;
      return checkLists({ events, deliveries, publishings, promised: promised(), record, stats });
    },
    report: (kills) => ({
      seed,
      kills,
      accepted: publishings.flatMap(({ ids = [] }) => ids).length,
      unanswered: publishings.filter(({ ids }) => ids === undefined).length,
      callbacks: record.callbacks,
      duplicates: record.duplicates,
      underWayMax: record.underWayMax,
    }),
    [Symbol.asyncDispose]: async () => {
      await serving?.[Symbol.asyncDispose]();
      for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
  return stage;
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Mostly a success; sometimes a failure, sometimes a slow success. */
async function anyAnswer(random: () => number): Promise<Reply> {
  const chance = random();
  if (chance < 0.15) return 500;
  if (chance < 0.35) await wait(random() * 80);
  return 200;
}
