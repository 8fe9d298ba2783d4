// Common steps of the suites about notices.
import { strict as assert } from 'node:assert';
import { noControls, type Controls } from '../../src/core/domain/controls.ts';
import type { Leased } from '../../src/core/domain/delivery.ts';
import type { Health } from '../../src/core/domain/health.ts';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { coarseMinutes, minuteMs } from '../../src/core/telemetry/statistics.ts';
import type { Settled, WaitingNotice } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput, EditOutput } from '../../src/store/port/store.ts';
import { keptStage, type StoreStage } from './store-stage.ts';
import { attempt, callback, newSubscription, type OpenSubject } from './subject.ts';

export const page = { limit: 50, after: undefined };

export function halfHourAfter(ms: number): number {
  const halfHourMs = coarseMinutes * minuteMs;
  return (Math.floor(ms / halfHourMs) + 1) * halfHourMs;
}

export const none = {
  state: undefined,
  event: undefined,
  subscription: undefined,
  name: undefined,
};

export interface NoticeStage {
  on: StoreStage;
  subscribed: (...patterns: string[]) => Promise<Subscription>;
  subscribedWith: (controls: Partial<Controls>, ...patterns: string[]) => Promise<Subscription>;
  edit: (one: Subscription, changes: Partial<EditInput<'editSubscription'>>) => Promise<void>;
  found: (one: Subscription) => Promise<Subscription>;
  health: (one: Subscription) => Promise<Health>;
  publishing: (
    what: string,
    one: Subscription | undefined,
  ) => {
    appNo: number;
    contract: string;
    events: {
      id: string;
      name: string;
      payload: Buffer<ArrayBuffer>;
    }[];
    audience:
      | {
          readonly kind: 'everyone';
          readonly id?: never;
        }
      | {
          readonly kind: 'all_callbacks' | 'subscription';
          readonly id: string;
        };
    idempotency: undefined;
  };
  publish: (what: string, one: Subscription) => Promise<string>;
  claimed: (event: string) => Promise<Leased[]>;
  fresh: (what: string, one?: Subscription) => Promise<Leased>;
  settle: (one: Leased, kind: 'delivered' | 'gone') => Promise<Settled>;
  fail: (one: Leased) => Promise<Settled>;
  breakDown: (
    one: Subscription,
    what?: string,
  ) => Promise<{
    lane: number;
    failingMs: number;
  }>;
  failNext: (one: Subscription, what?: string) => Promise<Settled>;
  coarsen: (ms: number) => Promise<void>;
  disable: (lane: number) => Promise<EditOutput<'disableFailing'>>;
  all: () => Promise<WaitingNotice[]>;
  notices: () => Promise<
    {
      name: string;
      payload: Record<string, unknown>;
    }[]
  >;
  leave: (no: number) => Promise<void>;
}

/** What suites about notices do on their stage. */
export function noticeStage(open: OpenSubject): NoticeStage {
  const on = keptStage(open);
  const { clock, newId } = on;

  async function subscribed(...patterns: string[]): Promise<Subscription> {
    return subscribedWith({}, ...patterns);
  }

  async function subscribedWith(
    controls: Partial<Controls>,
    ...patterns: string[]
  ): Promise<Subscription> {
    const callbacks = patterns.map((pattern, position) => callback(position, pattern));
    const chosen = { ...noControls, ...controls };
    const subscription = newSubscription(on.app, { callbacks, controls: chosen });
    const output = await on.store.edit('subscribe', { subscription, idempotency: undefined });
    assert(output.kind === 'created');
    return output.subscription;
  }

  async function edit(
    one: Subscription,
    changes: Partial<EditInput<'editSubscription'>>,
  ): Promise<void> {
    const { id, version } = await found(one);
    const nothing = { state: undefined, urls: [], secrets: undefined };
    const asked = { appNo: on.app.no, id, version, ...nothing, ...changes };
    assert.equal((await on.store.edit('editSubscription', asked)).kind, 'edited');
  }

  async function found({ id }: Subscription): Promise<Subscription> {
    const one = await on.store.read('subscription', { appNo: on.app.no, id });
    assert(one);
    return one;
  }

  async function health({ id }: Subscription) {
    const ids = [id];
    const [one] = await on.store.read('subscriptionHealth', { appNo: on.app.no, ids });
    assert(one);
    return structuredClone(one);
  }

  function publishing(what: string, one: Subscription | undefined) {
    return {
      appNo: on.app.no,
      contract: 'Ringback',
      events: [{ id: newId(), name: what, payload: Buffer.from('{}') }],
      audience:
        one === undefined
          ? ({ kind: 'everyone' } as const)
          : ({
              kind: what === 'ringback.ping' ? 'all_callbacks' : 'subscription',
              id: one.id,
            } as const),
      idempotency: undefined,
    };
  }

  /** Returns the event id. */
  async function publish(what: string, one: Subscription): Promise<string> {
    const output = await on.store.edit('publish', publishing(what, one));
    assert(output.kind === 'accepted' && output.events[0]?.deliveries === 1);
    return output.events[0].id;
  }

  /** Claims, and returns the deliveries of an event. */
  async function claimed(event: string): Promise<Leased[]> {
    const worked = await on.dispatcher.claim({ room: 99 });
    return worked.claimed.filter((leased) => leased.event === event);
  }

  /** A delivery in flight. */
  async function fresh(what: string, one?: Subscription): Promise<Leased> {
    const [first] = (await on.dispatcher.publish({ room: 1 }, publishing(what, one))).fresh;
    assert(first);
    return first;
  }

  async function settle({ event, n, lease }: Leased, kind: 'delivered' | 'gone'): Promise<Settled> {
    const status = kind === 'gone' ? 410 : 200;
    const made = attempt({ startedMs: clock.ms, status, error: undefined });
    return on.store.settle({ event, n, lease, outcome: { kind }, attempt: made });
  }

  /** Settles a delivery whose last attempt failed. */
  async function fail({ event, n, lease }: Leased): Promise<Settled> {
    const outcome = { kind: 'dead', reason: 'exhausted' } as const;
    const made = attempt({ startedMs: clock.ms, status: 500, error: 'status' });
    return on.store.settle({ event, n, lease, outcome, attempt: made });
  }

  /** Fails often enough in a row to open the circuit breaker. */
  async function breakDown(
    one: Subscription,
    what = 'a',
  ): Promise<{ lane: number; failingMs: number }> {
    const failingMs = clock.ms;
    let lane = 0;
    for (let count = 0; count < brokenAfter; count += 1) {
      const [leased] = await claimed(await publish(what, one));
      assert(leased);
      lane = leased.lane;
      assert.deepEqual(await fail(leased), { kind: 'settled' });
    }
    return { lane, failingMs };
  }

  /** Fails the probe of a broken receiver. */
  async function failNext(one: Subscription, what = 'a'): Promise<Settled> {
    const [probe] = await claimed(await publish(what, one));
    assert(probe);
    return fail(probe);
  }

  /** Advances the clock until statistics are kept by the half hour. */
  async function coarsen(ms: number): Promise<void> {
    await on.store.edit('keepStatistics', { limit: 1_000 });
    clock.ms = ms;
    const { statisticsFineMs: subscriptionFineMs, statisticsKeepMs: subscriptionKeepMs } = limits;
    const times = { appKeepMs: subscriptionKeepMs, subscriptionFineMs, subscriptionKeepMs };
    await on.store.edit('tidyStatistics', { ...times, limit: 1_000 });
  }

  async function disable(lane: number) {
    return on.store.edit('disableFailing', { appNo: on.app.no, lane });
  }

  async function all() {
    const waiting = await on.store.read('notices', { writtenByMs: clock.ms, limit: 100 });
    return waiting.filter(({ appNo }) => appNo === on.app.no);
  }

  /** Takes all pending notices of this app. */
  async function notices(): Promise<{ name: string; payload: Record<string, unknown> }[]> {
    const told = await all();
    for (const { no } of told) await leave(no);
    return told.map(({ name: what, payload }) => ({ name: what, payload: JSON.parse(payload) }));
  }

  async function leave(no: number): Promise<void> {
    const unheard = { ...publishing('x', undefined), contract: 'Nobody' };
    const output = await on.store.edit('publish', { ...unheard, notice: no });
    assert.equal(output.kind, 'accepted');
  }
  return {
    on,
    subscribed,
    subscribedWith,
    edit,
    found,
    health,
    publishing,
    publish,
    claimed,
    fresh,
    settle,
    fail,
    breakDown,
    failNext,
    coarsen,
    disable,
    all,
    notices,
    leave,
  };
}
