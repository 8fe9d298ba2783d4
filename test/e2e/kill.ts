// kill -9 of the real service at random moments under load, again and again on the same folder, and
// what must hold afterwards: nothing lost, nothing invented, no byte changed, few duplicates.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { newFolder, serve, type Serving } from '../cli/child.ts';
import { virtualWorld } from '../engine/virtual-world.ts';
import { header, receive, type Receiver, type Reply } from './receiver.ts';
import { until } from './stage.ts';
import { Tally } from './tally.ts';

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
interface Publishing {
  numbers: readonly number[];
  key: string | undefined;
  ids: readonly string[] | undefined;
}

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
  const record = new Record();
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
      return checkLists({ events, deliveries, publishings, promised: promised(), record });
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

interface DeliveryRow {
  eventId: string;
  subscriberId: string;
  state: string;
}

interface Lists {
  events: readonly { id: string; deliveries: number }[];
  deliveries: readonly DeliveryRow[];
  publishings: readonly Publishing[];
  promised: readonly { eventId: string; subscription: string; number: number }[];
  record: Record;
}

/** What the API shows, against what was answered and what receivers saw. */
function checkLists({ events, deliveries, publishings, promised, record }: Lists): number {
  const known = new Map(events.map((event) => [event.id, event]));
  assert.equal(known.size, events.length, 'an event stands in the list once');
  const answered = new Set(publishings.flatMap(({ ids = [] }) => ids));
  for (const id of answered) assert.ok(known.has(id), `${id} was answered and is not in the list`);
  // What was not answered may have been kept or not, but all or none of a batch.
  const unknownMax = publishings
    .filter(({ ids }) => ids === undefined)
    .reduce((sum, { numbers }) => sum + numbers.length, 0);
  const unknown = events.length - answered.size;
  assert.ok(unknown <= unknownMax, 'more events than were published');

  const count = (state: string): number =>
    deliveries.filter((delivery) => delivery.state === state).length;
  const made = events.reduce((sum, event) => sum + event.deliveries, 0);
  const states = ['delivered', 'dead', 'cancelled', 'due', 'running'].map(count);
  assert.equal(
    states.reduce((sum, one) => sum + one, 0),
    made,
    'accepted = delivered + dead + cancelled + pending',
  );
  assert.deepEqual(states, [made, 0, 0, 0, 0]);

  const rows = new Set(deliveries.map(({ eventId, subscriberId }) => `${eventId} ${subscriberId}`));
  assert.equal(rows.size, deliveries.length, 'an event has one delivery for a subscription');
  for (const { eventId, subscription, number } of promised) {
    assert.ok(rows.has(`${eventId} ${subscription}`), `no delivery of ${number}`);
    assert.equal(record.numberOf(eventId), number, `${eventId} carried other bytes`);
  }
  for (const row of rows) assert.ok(record.isAccepted(row), `${row} is delivered, but to nobody`);
  return unknown;
}

type Name = { subscription: string; eventId: string };

/** What receivers saw. */
class Record {
  /** Of the service's process. */
  incarnation = 0;
  callbacks = 0;
  duplicates = 0;
  underWayMax = 0;
  readonly accepted = new Tally('deliveries were accepted');
  readonly #flaws: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #events = new Map<number, string>();
  /** In which incarnation a delivery was last accepted. */
  readonly #acceptedIn = new Map<string, number>();
  readonly #expected = new Set<string>();
  #underWay = 0;

  /** A callback is there; `number` is known by its bytes. Gives the incarnation that sent it. */
  came({ eventId }: Name, number: number | undefined): number {
    this.callbacks += 1;
    this.#underWay += 1;
    if (number === undefined) this.#flaws.push(`${eventId} came with bytes nobody published`);
    else {
      const before = this.#numbers.get(eventId) ?? number;
      if (before !== number) this.#flaws.push(`${eventId} came with other bytes than before`);
      const other = this.#events.get(number) ?? eventId;
      if (other !== eventId) this.#flaws.push(`number ${number} came as ${other} and ${eventId}`);
      this.#numbers.set(eventId, number);
      this.#events.set(number, eventId);
    }
    return this.incarnation;
  }

  left(): void {
    this.#underWay -= 1;
  }

  accept({ subscription, eventId }: Name, incarnation: number): void {
    const row = `${eventId} ${subscription}`;
    const before = this.#acceptedIn.get(row);
    if (before === undefined) this.accepted.add();
    else {
      this.duplicates += 1;
      if (before === incarnation) this.#flaws.push(`${row} came twice from one process`);
    }
    this.#acceptedIn.set(row, incarnation);
  }

  noteKill(): void {
    this.underWayMax = Math.max(this.underWayMax, this.#underWay);
  }

  expect({ subscription, eventId }: Name): void {
    this.#expected.add(`${eventId} ${subscription}`);
  }

  /** Resolves when every expected delivery was accepted. */
  async allExpected(): Promise<void> {
    const missing = (): string[] => [...this.#expected].filter((row) => !this.isAccepted(row));
    for (let left = missing(); left.length > 0; left = missing()) {
      await this.accepted.reach(this.accepted.count + 1).catch((cause: unknown) => {
        const message = `${left.length} deliveries were lost, ${left[0]} among them`;
        throw new Error(message, { cause });
      });
    }
  }

  isAccepted(row: string): boolean {
    return this.#acceptedIn.has(row);
  }

  numberOf(eventId: string): number | undefined {
    return this.#numbers.get(eventId);
  }

  check(): void {
    assert.deepEqual(this.#flaws, []);
  }
}

/** Bytes that a parser and printer would change: order, big numbers, escapes, a key twice. */
function payloadOf(number: number): string {
  const big = `9007199254740993${number}`;
  return `{ "z":${big},"message":"n\\u00famber ${number} ✓ \\ud83d\\ude00","a":1.0, "a":1e2,"\\u0061b":[ ]}`;
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
