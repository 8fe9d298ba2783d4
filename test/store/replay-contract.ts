// The part of the store's contract that is about replays: which deliveries a walk finds, and what a step
// does to them. Run on every adapter.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { App } from '../../src/core/app.ts';
import type { DeliveryName } from '../../src/core/delivery.ts';
import { pendingOf } from '../../src/core/figures.ts';
import { fitsEnding, fitsEvent } from '../../src/core/fits-delivery.ts';
import { firstIdAt, idMaker } from '../../src/core/id.ts';
import { limits } from '../../src/core/limits.ts';
import { progressOf, type Replay, type ReplayFilter } from '../../src/core/replay.ts';
import type { Subscription } from '../../src/core/subscription.ts';
import { realWorld } from '../../src/core/world.ts';
import type { Delivery, Settlement } from '../../src/store/delivery-verbs.ts';
import type { Replayable } from '../../src/store/replay-verbs.ts';
import type { EditInput, EditOutput, Store } from '../../src/store/store.ts';
import type { OpenSubject, Subject } from './contract.ts';
import { attempt, callback, digest, newApp, newSubscription } from './contract.ts';
import { attachDispatcher, type TestDispatcher } from './test-dispatcher.ts';

const everything: ReplayFilter = {
  state: 'ended',
  event: undefined,
  subscription: undefined,
  status: undefined,
  error: undefined,
  fromMs: undefined,
  untilMs: undefined,
};
const startMs = 1_700_000_000_000;
const whole = { limit: 500, after: undefined };

type Outcome = Settlement['outcome']['kind'] & ('delivered' | 'dead' | 'cancelled');

export function replayContract(name: string, open: OpenSubject): void {
  describe(`the contract of replays: ${name}`, () => {
    const clock = { ms: 0 };
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    let app: App;
    let newId: () => string;
    beforeEach(async () => {
      clock.ms = startMs;
      newId = idMaker({ ...realWorld(), nowMs: () => clock.ms });
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      dispatcher = attachDispatcher(store);
      app = await newApp(store);
    });
    afterEach(async () => {
      await subject.dispose();
    });

    describe('createReplay', () => {
      it('keeps it with its filter, where it begins and where it ends', async () => {
        const { id: subscription } = await subscribed();
        const first = await ended('dead', { subscription });
        const last = await ended('dead', { subscription });
        const filter: ReplayFilter = {
          state: 'dead',
          event: 'a.*',
          subscription,
          status: '5xx',
          error: 'status',
          fromMs: startMs - 5,
          untilMs: startMs + 5_000,
        };
        const replay = await created(filter, 7);
        assert.deepEqual(structuredClone(replay), {
          id: replay.id,
          appNo: app.no,
          filter,
          ratePerSecond: 7,
          state: 'running',
          firstEvent: first.event,
          lastEvent: last.event,
          cursor: { event: first.event, n: -1, below: 1 },
          matched: 0,
          replayed: 0,
          skipped: 0,
          nextMs: clock.ms,
          createdMs: clock.ms,
          endedMs: undefined,
        });
        assert.deepEqual(await find(replay.id), replay);
        assert.equal(progressOf(replay), 0);
      });

      it('is done at once where nothing could fit', async () => {
        await ended('delivered');
        for (const filter of [
          { state: 'dead' } as const,
          { fromMs: clock.ms + 1 },
          { untilMs: startMs },
        ]) {
          const replay = await created({ ...everything, ...filter });
          assert.deepEqual([replay.state, replay.endedMs], ['done', clock.ms]);
          assert.equal(progressOf(replay), 1);
        }
      });

      it('answers a repetition with the first one, and refuses another request', async () => {
        await ended('dead');
        const idempotency = { key: digest('key').subarray(0, 16), print: digest('one') };
        const first = await create(everything, { idempotency });
        assert(first.kind === 'created');
        const again = await create(everything, { idempotency });
        assert.deepEqual(again, { kind: 'repeated', replay: first.replay });
        const other = { ...idempotency, print: digest('other') };
        assert.deepEqual(await create(everything, { idempotency: other }), { kind: 'mismatch' });
        assert.equal((await list()).length, 1);
      });

      it('takes a repetition of one that was forgotten as a new request', async () => {
        await ended('dead');
        const idempotency = { key: digest('key').subarray(0, 16), print: digest('one') };
        const first = await create(everything, { idempotency });
        assert(first.kind === 'created');
        await store.edit('cancelReplay', { appNo: app.no, id: first.replay.id });
        await store.edit('forgetReplays', { endedBeforeMs: clock.ms + 1, limit: 9 });
        const next = await create(everything, { idempotency });
        assert(next.kind === 'created');
        assert.notEqual(next.replay.id, first.replay.id);
        const again = await create(everything, { idempotency });
        assert.deepEqual(again, { kind: 'repeated', replay: next.replay });
      });

      it('refuses one too many that run, per app, and leaves its key free', async () => {
        const one = await ended('dead');
        const idempotency = { key: digest('key').subarray(0, 16), print: digest('one') };
        const first = await created(everything);
        await created(everything);
        assert.deepEqual(await create(everything, { runningMax: 2, idempotency }), {
          kind: 'too_many',
        });
        const other = await newApp(store);
        assert.equal((await create(everything, { runningMax: 2, owner: other })).kind, 'created');
        await store.edit('cancelReplay', { appNo: app.no, id: first.id });
        const made = await create(everything, { runningMax: 2, idempotency });
        assert(made.kind === 'created' && made.replay.firstEvent === one.event);
      });
    });

    describe('replays', () => {
      it('are listed newest first, page by page, and those of one app only', async () => {
        const made = [await created(), await created(), await created()];
        const other = await newApp(store);
        await create(everything, { owner: other });
        const first = await store.read('replays', {
          appNo: app.no,
          page: { limit: 2, after: undefined },
        });
        assert.deepEqual(first.items, [made[2], made[1]]);
        const page = { limit: 2, after: first.next };
        const second = await store.read('replays', { appNo: app.no, page });
        assert.deepEqual(second, { items: [made[0]], next: undefined });
        const id = made[0]?.id ?? '';
        assert.equal(await store.read('replay', { appNo: other.no, id }), undefined);
        assert.equal(await find(newId()), undefined);
      });

      it('outlive the store, and go once they have ended for long enough', async () => {
        await ended('dead');
        const [running, done] = [await created(), await created({ ...everything, fromMs: 9e12 })];
        store = (await subject.reopen?.()) ?? store;
        assert.deepEqual(await find(running.id), running);
        const forget = async (endedBeforeMs: number): Promise<number> => {
          const output = await store.edit('forgetReplays', { endedBeforeMs, limit: 9 });
          return output.deleted;
        };
        assert.equal(await forget(clock.ms), 0);
        assert.equal(await forget(clock.ms + 1), 1);
        assert.equal(await find(done.id), undefined);
        assert.equal((await list()).length, 1);
      });
    });

    describe('runningReplays', () => {
      it('gives those of any app whose step is due first, and none that have ended', async () => {
        for (let i = 0; i < 4; i += 1) await ended('dead');
        const slow = await created(everything, 1);
        const fast = await created(everything, 1000);
        const gone = await created();
        await store.edit('cancelReplay', { appNo: app.no, id: gone.id });
        await step(slow, 1);
        await step(fast, 1);
        const ids = async (limit: number): Promise<string[]> =>
          (await store.read('runningReplays', { limit })).map(({ id }) => id);
        assert.deepEqual(await ids(9), [fast.id, slow.id]);
        assert.deepEqual(await ids(1), [fast.id]);
      });
    });

    describe('replayable', () => {
      it('finds exactly what fits, oldest first, in pieces of any size', async () => {
        const { filters, all } = await mixture();
        for (const filter of filters) {
          const expected = all
            .filter((one) => fits(one, filter))
            .map(nameOf)
            .sort(oldestFirst);
          for (const limit of [1, 3, 100]) {
            assert.deepEqual(await walk(filter, limit), expected, JSON.stringify(filter));
          }
        }
      });

      it('looks at a bounded number of rows, and says how far it came', async () => {
        const others = await newApp(store);
        await many(others, limits.replayRowsExaminedMax + 10);
        const one = await ended('delivered');
        const range = await store.read('replayRange', { appNo: app.no, filter: everything });
        assert(range !== undefined);
        const input = { appNo: app.no, filter: everything, endedByMs: clock.ms, limit: 5 };
        const begin = { event: range.firstEvent, n: -1, below: 1 };
        const first = await store.read('replayable', { ...input, ...range, after: begin });
        assert.deepEqual([first.names, first.isLast], [[], false]);
        const after = { ...first.reached, below: 1 };
        const second = await store.read('replayable', { ...input, ...range, after });
        assert.deepEqual([second.names, second.isLast], [[nameOf(one)], true]);
      });

      it('leaves alone what ended after the replay began', async () => {
        const first = await ended('dead');
        const late = await leased();
        const last = await ended('dead');
        const replay = await created();
        clock.ms += 1;
        await settle(late, 'dead');
        assert.deepEqual((await walkOf(replay, 9)).names, [first, last].map(nameOf));
      });
    });

    describe('advanceReplay', () => {
      it('lets a dead one go on under its own name, with its schedule from the start', async () => {
        const one = await ended('dead');
        const replay = await step(await created({ ...everything, state: 'dead' }), 9);
        assert.deepEqual(
          [replay.state, replay.matched, replay.replayed, replay.skipped, replay.endedMs],
          ['done', 1, 1, 0, clock.ms],
        );
        const [again] = (await dispatcher.claim({ room: 9 })).claimed;
        assert.deepEqual(
          [again?.event, again?.n, again?.tries, again?.attempts],
          [one.event, one.n, 0, 1],
        );
        assert.deepEqual(await tally(), { running: 1 });
        const counts = await store.read('counts', { appNo: app.no });
        assert.deepEqual([counts.made, counts.revived, pendingOf(counts)], [1, 1, 1]);
      });

      it('makes a successor of the same event for a delivered or cancelled one', async () => {
        const { id: subscription } = await subscribed([callback(0, '*'), callback(1, '*')]);
        const input = publishInput('a.b', { kind: 'subscription', id: subscription });
        const { born } = await dispatcher.publish({ room: 9 }, input);
        for (const [index, one] of born.entries()) {
          await settle(one, index === 0 ? 'delivered' : 'cancelled');
        }
        await step(await created(), 9);
        const { claimed } = await dispatcher.claim({ room: 9 });
        const [event] = new Set(born.map((one) => one.event));
        assert.deepEqual(
          new Set(claimed.map((one) => [one.event, one.n, one.attempts, one.callback].join())),
          new Set(born.map((one) => [event, one.n + 2, 0, one.callback].join())),
        );
        assert.equal(
          (await store.read('event', { appNo: app.no, id: event ?? '' }))?.deliveries,
          4,
        );
        assert.deepEqual(await tally(), { running: 2, delivered: 1, cancelled: 1 });
        const counts = await store.read('counts', { appNo: app.no });
        assert.deepEqual([counts.made, counts.revived, pendingOf(counts)], [4, 0, 2]);
      });

      it('skips what waits or ended again, has gone, or has no subscription any more', async () => {
        const { id } = await subscribed();
        const orphan = await ended('dead', { subscription: id });
        const again = await ended('dead');
        const pending = await ended('dead');
        const good = await ended('dead');
        const replay = await created();
        const { names, reached, isLast } = await walkOf(replay, 9);
        assert.deepEqual(names, [orphan, again, pending, good].map(nameOf));
        await store.edit('retryDelivery', { appNo: app.no, ...nameOf(again) });
        clock.ms += 1;
        for (const one of (await dispatcher.claim({ room: 9 })).claimed) await settle(one, 'dead');
        await store.edit('retryDelivery', { appNo: app.no, ...nameOf(pending) });
        await store.edit('unsubscribe', { appNo: app.no, id });
        const gone = { event: reached.event, n: 77 };
        const input = { id: replay.id, from: replay.cursor, to: reached, isLast };
        const output = await store.edit('advanceReplay', { ...input, names: [...names, gone] });
        assert(output.kind === 'stepped');
        const { matched, replayed, skipped } = output.replay;
        assert.deepEqual([matched, replayed, skipped], [5, 1, 4]);
      });

      it('lets one of several take a step, and the others change nothing', async () => {
        await ended('dead');
        await ended('delivered');
        const replay = await created();
        const { names, reached: to, isLast } = await walkOf(replay, 1);
        const input = { id: replay.id, from: replay.cursor, to, names, isLast };
        const outputs = await Promise.all(
          [1, 2, 3].map(async () => store.edit('advanceReplay', input)),
        );
        assert.deepEqual(outputs.map(({ kind }) => kind).sort(), ['moved', 'moved', 'stepped']);
        assert.equal((await find(replay.id))?.replayed, 1);
        assert.deepEqual(await tally(), { due: 1, delivered: 1 });
      });

      it('does nothing once it was cancelled; cancelling twice is no more than once', async () => {
        await ended('dead');
        const replay = await created();
        const { names, reached: to, isLast } = await walkOf(replay, 1);
        const cancel = { appNo: app.no, id: replay.id };
        const cancelled = await store.edit('cancelReplay', cancel);
        assert(cancelled.kind === 'cancelled' && cancelled.replay.endedMs === clock.ms);
        clock.ms += 5;
        assert.deepEqual(await store.edit('cancelReplay', cancel), cancelled);
        const input = { id: replay.id, from: replay.cursor, to, names, isLast };
        assert.deepEqual(await store.edit('advanceReplay', input), { kind: 'moved' });
        assert.deepEqual(await tally(), { dead: 1 });
        const done = await created({ ...everything, fromMs: 9e12 });
        const late = await store.edit('cancelReplay', { ...cancel, id: done.id });
        assert.deepEqual(late, { kind: 'done' });
        const other = await newApp(store);
        for (const unknown of [
          { appNo: other.no, id: replay.id },
          { ...cancel, id: newId() },
        ]) {
          assert.deepEqual(await store.edit('cancelReplay', unknown), { kind: 'not_found' });
        }
      });

      it('never finds what it made itself, even where the clock was set back', async () => {
        const { id: subscription } = await subscribed([callback(0, '*'), callback(1, '*')]);
        const input = publishInput('a.b', { kind: 'subscription', id: subscription });
        for (const one of (await dispatcher.publish({ room: 9 }, input)).born) {
          await settle(one, 'delivered');
        }
        let replay = await created();
        clock.ms -= 60_000;
        for (let steps = 1; replay.state === 'running'; steps += 1) {
          assert(steps < 9, 'the replay feeds itself');
          replay = await step(replay, 1);
          clock.ms += 10;
          for (const one of (await dispatcher.claim({ room: 9 })).claimed) {
            await settle(one, 'delivered');
          }
        }
        assert.equal(replay.replayed, 2);
        assert.deepEqual(await tally(), { delivered: 4 });
      });

      it('says when the next step may come, by what was sent, and catches up a little', async () => {
        for (let i = 0; i < 5; i += 1) await ended('dead');
        const { createdMs, ...replay } = await created(everything, 4);
        const first = await step({ ...replay, createdMs }, 2);
        assert.equal(first.nextMs, createdMs + 500);
        clock.ms = createdMs + 900;
        const second = await step(first, 1);
        assert.equal(second.nextMs, createdMs + 750, 'it was late, and that adds up to nothing');
        clock.ms = createdMs + 100_000;
        const third = await step(second, 1);
        assert.equal(third.nextMs, clock.ms - limits.replayCatchUpMs + 250, 'but not for ever');
        assert.equal(progressOf(third) > 0.5 && progressOf(third) < 1, true);
      });
    });

    /** Deliveries of several kinds, apps, events and subscriptions, and filters that part them. */
    async function mixture(): Promise<{ filters: ReplayFilter[]; all: Delivery[] }> {
      const { id: one } = await subscribed([callback(0, '*'), callback(1, 'a.b')]);
      const { id: other } = await subscribed();
      const stranger = await newApp(store);
      const failed = attempt({ status: 503, error: 'status' });
      for (const what of ['a', 'a.b', 'a.c', 'b']) {
        await ended('delivered', { subscription: one, what });
        await ended('dead', { subscription: other, what, attempt: failed });
        const timeout = attempt({ status: undefined, error: 'timeout' });
        await ended('dead', { subscription: one, what, attempt: timeout });
        await ended('cancelled', { subscription: other, what, attempt: undefined });
        await many(stranger, 3);
        await leased({ subscription: other, what });
      }
      const times = [startMs + 3_000, startMs + 9_000] as const;
      const parts: Partial<ReplayFilter>[] = [
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
        { fromMs: times[0] },
        { untilMs: times[1] },
        { state: 'dead', fromMs: times[0], untilMs: times[1], subscription: other },
      ];
      const page = { limit: 500, after: undefined };
      const none = { state: undefined, name: undefined, event: undefined, subscription: undefined };
      const { items } = await store.read('deliveries', { appNo: app.no, page, filter: none });
      assert(items.length > 15);
      return { filters: parts.map((part) => ({ ...everything, ...part })), all: items };
    }

    async function walk(filter: ReplayFilter, limit: number): Promise<DeliveryName[]> {
      const input = { appNo: app.no, filter };
      const range = await store.read('replayRange', input);
      if (range === undefined) return [];
      const names: DeliveryName[] = [];
      let after = { event: range.firstEvent, n: -1, below: 9 };
      for (let turns = 0; ; turns += 1) {
        assert(turns < 100, 'a walk does not end');
        const more = { lastEvent: range.lastEvent, endedByMs: clock.ms, after, limit };
        const found = await store.read('replayable', { ...input, ...more });
        names.push(...found.names);
        if (found.isLast) return structuredClone(names);
        after = { ...found.reached, below: 9 };
      }
    }

    async function walkOf(replay: Replay, limit: number): Promise<Replayable> {
      const { appNo, filter, cursor: after, lastEvent, createdMs: endedByMs } = replay;
      return structuredClone(
        await store.read('replayable', { appNo, filter, after, lastEvent, endedByMs, limit }),
      );
    }

    async function step(replay: Replay, limit: number): Promise<Replay> {
      const { names, reached: to, isLast } = await walkOf(replay, limit);
      const { id, cursor: from } = replay;
      const output = await store.edit('advanceReplay', { id, from, to, names, isLast });
      assert(output.kind === 'stepped');
      return output.replay;
    }

    interface CreateOptions {
      owner?: App;
      runningMax?: number;
      ratePerSecond?: number;
      idempotency?: EditInput<'createReplay'>['idempotency'];
    }

    async function create(
      filter: ReplayFilter,
      options: CreateOptions = {},
    ): Promise<EditOutput<'createReplay'>> {
      const { owner = app, runningMax = 9, ratePerSecond = 50, idempotency } = options;
      const replay = { id: newId(), appNo: owner.no, filter, ratePerSecond };
      return store.edit('createReplay', { replay, runningMax, idempotency });
    }

    async function created(filter = everything, ratePerSecond = 50): Promise<Replay> {
      const output = await create(filter, { ratePerSecond });
      assert(output.kind === 'created');
      return output.replay;
    }

    async function find(id: string): Promise<Replay | undefined> {
      return store.read('replay', { appNo: app.no, id });
    }

    async function list(): Promise<Replay[]> {
      return (await store.read('replays', { appNo: app.no, page: whole })).items;
    }

    async function subscribed(callbacks = [callback(0, '*')], owner = app): Promise<Subscription> {
      const subscription = newSubscription(owner, { callbacks });
      const output = await store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    function publishInput(
      what: string,
      audience: EditInput<'publish'>['audience'],
    ): EditInput<'publish'> {
      clock.ms += 1_000;
      const event = { id: newId(), name: what, payload: Buffer.from('{}') };
      const input = { appNo: app.no, contract: 'Ringback', audience, idempotency: undefined };
      return { ...input, events: [event] };
    }

    interface Of {
      subscription?: string;
      what?: string;
      attempt?: Settlement['attempt'];
    }

    /** The first delivery of an event of its own; any others stay under way. */
    async function leased({ subscription, what = 'a.b' }: Of = {}) {
      const id = subscription ?? (await subscribed()).id;
      const input = publishInput(what, { kind: 'subscription', id });
      const [one] = (await dispatcher.publish({ room: 9 }, input)).born;
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
      const settled = await store.settle({ event, n, lease, outcome, attempt: made });
      assert.deepEqual(settled, { kind: 'settled' });
    }

    /** Ended deliveries of another app, all of one time. */
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
        const { born } = await dispatcher.publish(
          { room: 200, laneRoom: 200 },
          { ...input, audience: whom },
        );
        await Promise.all(born.map(async (one) => settle(one, 'delivered')));
      }
    }

    async function tally(): Promise<Record<string, number>> {
      const counts = Object.entries(await store.read('tally', {}));
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    }
  });
}

/** The filter once more, over what the API shows. */
function fits(one: Delivery, filter: ReplayFilter): boolean {
  const { event, subscription, fromMs = 0, untilMs = 9e12 } = filter;
  return (
    fitsEnding(one, filter) &&
    fitsEvent(one.eventName, event) &&
    (subscription === undefined || one.subscription === subscription) &&
    one.event >= firstIdAt(fromMs) &&
    one.event < firstIdAt(untilMs)
  );
}

function nameOf({ event, n }: DeliveryName): DeliveryName {
  return { event, n };
}

function oldestFirst(a: DeliveryName, b: DeliveryName): number {
  if (a.event !== b.event) return a.event < b.event ? -1 : 1;
  return a.n - b.n;
}
