// Common steps of the suites about replays.
import { strict as assert } from 'node:assert';
import type { App } from '../../src/core/domain/app.ts';
import {
  type DeliveryName,
  fitsEnding,
  fitsEvent,
  type Leased,
} from '../../src/core/domain/delivery.ts';
import { firstIdAt } from '../../src/core/base/id.ts';
import type { Replay, ReplayFilter } from '../../src/core/domain/replay.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import type { Delivery, Settlement } from '../../src/store/port/delivery-verbs.ts';
import type { Replayable } from '../../src/store/port/replay-verbs.ts';
import type { EditInput, EditOutput } from '../../src/store/port/store.ts';
import { attempt, callback, newApp, newSubscription, type OpenSubject } from './subject.ts';
import { freshStage } from './store-stage.ts';
import type { StoreStage } from './store-stage.ts';
import type { Callback } from '../../src/core/domain/subscription.ts';

export const everything: ReplayFilter = {
  state: 'ended',
  event: undefined,
  subject: undefined,
  customer: undefined,
  subscription: undefined,
  status: undefined,
  error: undefined,
  fromMs: undefined,
  untilMs: undefined,
};
export const startMs = 1_700_000_000_000;
export const whole = { limit: 500, after: undefined };

export type Outcome = Settlement['outcome']['kind'] & ('delivered' | 'dead' | 'cancelled');

/** The same filter, implemented on the view of the API. */
export function fits(one: Delivery, filter: ReplayFilter): boolean {
  const { event, subject, customer, subscription, fromMs = 0, untilMs = 9e12 } = filter;
  return (
    fitsEnding(one, filter) &&
    fitsEvent(one.eventName, event) &&
    (subject === undefined || one.subject === subject) &&
    (customer === undefined || one.customer === customer) &&
    (subscription === undefined || one.subscription === subscription) &&
    one.event >= firstIdAt(fromMs) &&
    one.event < firstIdAt(untilMs)
  );
}

export function nameOf({ event, n }: DeliveryName): DeliveryName {
  return { event, n };
}

export function oldestFirst(a: DeliveryName, b: DeliveryName): number {
  if (a.event !== b.event) return a.event < b.event ? -1 : 1;
  return a.n - b.n;
}

export interface CreateOptions {
  owner?: App;
  runningMax?: number;
  ratePerSecond?: number;
  idempotency?: EditInput<'createReplay'>['idempotency'];
}

export interface Of {
  subscription?: string;
  what?: string;
  /** Of the event. */
  about?: string;
  attempt?: Settlement['attempt'];
}

export interface ReplayStage {
  on: StoreStage;
  mixture: () => Promise<{
    filters: ReplayFilter[];
    all: Delivery[];
  }>;
  walk: (filter: ReplayFilter, limit: number) => Promise<DeliveryName[]>;
  walkOf: (replay: Replay, limit: number) => Promise<Replayable>;
  step: (replay: Replay, limit: number) => Promise<Replay>;
  create: (filter: ReplayFilter, options?: CreateOptions) => Promise<EditOutput<'createReplay'>>;
  created: (filter?: ReplayFilter, ratePerSecond?: number) => Promise<Replay>;
  find: (id: string) => Promise<Replay | undefined>;
  list: () => Promise<Replay[]>;
  subscribed: (callbacks?: Callback[], owner?: App, customer?: string) => Promise<Subscription>;
  publishInput: (
    what: string,
    audience: EditInput<'publish'>['audience'],
    subject?: string,
  ) => EditInput<'publish'>;
  leased: (one?: Of) => Promise<Leased>;
  ended: (kind: Outcome, of?: Of) => Promise<Leased>;
  settle: (
    one: DeliveryName & {
      lease: number;
    },
    kind: Outcome,
    options?: Pick<Of, 'attempt'>,
  ) => Promise<void>;
  many: (owner: App, count: number) => Promise<void>;
  tally: () => Promise<Record<string, number>>;
}

/** What suites about replays do on their stage. */
export function replayStage(open: OpenSubject): ReplayStage {
  const on = freshStage(open);
  const { clock, newId } = on;

  async function mixture(): Promise<{ filters: ReplayFilter[]; all: Delivery[] }> {
    const { id: one } = await subscribed([callback(0, '*'), callback(1, 'a.b')]);
    const { id: other } = await subscribed(undefined, on.app, 'cus_1');
    const stranger = await newApp(on.store);
    const failed = attempt({ status: 503, error: 'status' });
    for (const what of ['a', 'a.b', 'a.c', 'b']) {
      await ended('delivered', { subscription: one, what });
      await ended('dead', { subscription: other, what, attempt: failed, about: 'one' });
      await ended('dead', { subscription: one, what, attempt: failed, about: 'two' });
      const timeout = attempt({ status: undefined, error: 'timeout' });
      await ended('dead', { subscription: one, what, attempt: timeout });
      await ended('cancelled', { subscription: other, what, attempt: undefined, about: 'one' });
      await many(stranger, 3);
      await leased({ subscription: other, what });
    }
    const times = [startMs + 3_000, startMs + 9_000] as const;
    const parts: Partial<ReplayFilter>[] = [
      { customer: 'cus_1' },
      { customer: 'cus_2' },
      {},
      { state: 'dead' },
      { state: 'delivered' },
      { state: 'cancelled' },
      { event: 'a.b' },
      { event: 'a.*' },
      { event: '*' },
      { event: 'nothing' },
      { subscription: one },
      { subscription: newId() },
      { status: '5xx' },
      { status: '503', state: 'dead' },
      { status: '2xx' },
      { error: 'timeout', event: 'a.*' },
      { error: 'exhausted', subscription: other },
      { error: 'expired' },
      { subject: 'one' },
      { subject: 'one', event: 'a.*', state: 'dead' },
      { subject: 'two', fromMs: times[0] },
      { subject: 'two', untilMs: times[0] },
      { subject: 'none' },
      { fromMs: times[0] },
      { untilMs: times[1] },
      { state: 'dead', fromMs: times[0], untilMs: times[1], subscription: other },
    ];
    const page = { limit: 500, after: undefined };
    const none = { state: undefined, name: undefined, event: undefined, subscription: undefined };
    const { items } = await on.store.read('deliveries', { appNo: on.app.no, page, filter: none });
    assert(items.length > 15);
    return { filters: parts.map((part) => ({ ...everything, ...part })), all: items };
  }

  async function walk(filter: ReplayFilter, limit: number): Promise<DeliveryName[]> {
    const input = { appNo: on.app.no, filter };
    const range = await on.store.read('replayRange', input);
    if (range === undefined) return [];
    const names: DeliveryName[] = [];
    let after = { event: range.firstEvent, n: -1, below: 9 };
    for (let turns = 0; ; turns += 1) {
      assert(turns < 100, 'a walk does not end');
      const more = { lastEvent: range.lastEvent, endedByMs: clock.ms, after, limit };
      const found = await on.store.read('replayable', { ...input, ...more });
      names.push(...found.names);
      if (found.isLast) return structuredClone(names);
      after = { ...found.reached, below: 9 };
    }
  }

  async function walkOf(replay: Replay, limit: number): Promise<Replayable> {
    const { appNo, filter, cursor: after, lastEvent, createdMs: endedByMs } = replay;
    return structuredClone(
      await on.store.read('replayable', { appNo, filter, after, lastEvent, endedByMs, limit }),
    );
  }

  async function step(replay: Replay, limit: number): Promise<Replay> {
    const { names, reached: to, isLast } = await walkOf(replay, limit);
    const { id, cursor: from } = replay;
    const output = await on.store.edit('advanceReplay', { id, from, to, names, isLast });
    assert(output.kind === 'stepped');
    return output.replay;
  }

  async function create(
    filter: ReplayFilter,
    options: CreateOptions = {},
  ): Promise<EditOutput<'createReplay'>> {
    const { owner = on.app, runningMax = 9, ratePerSecond = 50, idempotency } = options;
    const replay = { id: newId(), appNo: owner.no, filter, ratePerSecond };
    return on.store.edit('createReplay', { replay, runningMax, idempotency });
  }

  async function created(filter = everything, ratePerSecond = 50): Promise<Replay> {
    const output = await create(filter, { ratePerSecond });
    assert(output.kind === 'created');
    return output.replay;
  }

  async function find(id: string): Promise<Replay | undefined> {
    return on.store.read('replay', { appNo: on.app.no, id });
  }

  async function list(): Promise<Replay[]> {
    return (await on.store.read('replays', { appNo: on.app.no, page: whole })).items;
  }

  async function subscribed(
    callbacks = [callback(0, '*')],
    owner = on.app,
    customer?: string,
  ): Promise<Subscription> {
    const subscription = newSubscription(owner, { callbacks, customer });
    const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    return output.subscription;
  }

  function publishInput(
    what: string,
    audience: EditInput<'publish'>['audience'],
    subject?: string,
  ): EditInput<'publish'> {
    clock.ms += 1_000;
    const event = { id: newId(), name: what, subject, payload: Buffer.from('{}') };
    const input = { appNo: on.app.no, contract: 'Ringback', audience, idempotency: undefined };
    return { ...input, events: [event] };
  }

  /** The first delivery of a new event; others stay in flight. */
  async function leased({ subscription, what = 'a.b', about }: Of = {}) {
    const id = subscription ?? (await subscribed()).id;
    const input = publishInput(what, { kind: 'subscription', id }, about);
    const [one] = (await on.dispatcher.publish({ room: 9 }, input)).fresh;
    assert(one);
    return one;
  }

  async function ended(kind: Outcome, of: Of = {}) {
    const one = await leased(of);
    await settle(one, kind, 'attempt' in of ? { attempt: of.attempt } : {});
    return one;
  }

  async function settle(
    { event, n, lease }: DeliveryName & { lease: number },
    kind: Outcome,
    options: Pick<Of, 'attempt'> = {},
  ): Promise<void> {
    const good = kind === 'delivered' ? { status: 200, error: undefined } : {};
    const made = 'attempt' in options ? options.attempt : attempt(good);
    const outcome = kind === 'dead' ? { kind, reason: 'exhausted' } : { kind };
    const settled = await on.store.settle({ event, n, lease, outcome, attempt: made });
    assert.deepEqual(settled, { kind: 'settled' });
  }

  /** Ended deliveries of another app, all with the same time. */
  async function many(owner: App, count: number): Promise<void> {
    const callbacks = [callback(0, 'x')];
    await subscribed(callbacks, owner);
    for (let left = count; left > 0; left -= 200) {
      const events = Array.from({ length: Math.min(left, 200) }, () => ({
        id: newId(),
        name: 'x',
        payload: Buffer.from('{}'),
      }));
      const input = { appNo: owner.no, contract: 'Ringback', events, idempotency: undefined };
      const whom = { kind: 'everyone' } as const;
      const { fresh } = await on.dispatcher.publish(
        { room: 200, laneRoom: 200 },
        { ...input, audience: whom },
      );
      await Promise.all(fresh.map(async (one) => settle(one, 'delivered')));
    }
  }

  async function tally(): Promise<Record<string, number>> {
    const counts = Object.entries(await on.store.read('tally', {}));
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }
  return {
    on,
    mixture,
    walk,
    walkOf,
    step,
    create,
    created,
    find,
    list,
    subscribed,
    publishInput,
    leased,
    ended,
    settle,
    many,
    tally,
  };
}
