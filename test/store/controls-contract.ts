// The contract of the Store port: what a subscription chooses for itself, which events its callbacks
// hear, and when it ends by itself.
import { strict as assert } from 'node:assert';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { App } from '../../src/core/app.ts';
import { noControls, type Controls } from '../../src/core/controls.ts';
import { idMaker } from '../../src/core/id.ts';
import { limits } from '../../src/core/limits.ts';
import type { Subscription } from '../../src/core/subscription.ts';
import { realWorld } from '../../src/core/world.ts';
import type { EditInput, NewSubscription, Store } from '../../src/store/store.ts';
import type { OpenSubject, Subject } from './contract.ts';
import { callback, digest, inactive, newApp, newSubscription } from './contract.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

const world = realWorld();
const all: Controls = {
  description: 'für Leute',
  metadata: { team: 'warehouse' },
  filter: { '/a': [1, null] },
  retryMs: [5_000, 300_000],
  timeoutMs: 500,
  concurrency: 4,
  signing: 'ed25519',
  ratePerSecond: 0.5,
  headerNames: ['Authorization'],
  ordered: true,
  expiresMs: undefined,
};

export function controlsContract(name: string, open: OpenSubject): void {
  describe(`the controls contract: ${name}`, () => {
    // Ids of events have this time, and days of the history are made for the real one.
    const clock = { ms: world.nowMs() };
    const newId = idMaker({ ...world, nowMs: () => clock.ms });
    let subject: Subject;
    let store: Store;
    let dispatcher: TestDispatcher;
    let app: App;
    before(async () => {
      subject = await open({ nowMs: () => clock.ms });
      store = subject.store;
      dispatcher = attachDispatcher(store);
    });
    beforeEach(async () => {
      clock.ms += 10_000; // Nothing that an earlier test left is still to expire.
      app = await newApp(store);
    });
    after(async () => subject.dispose());

    describe('subscribe', () => {
      it('keeps what is chosen, and shows it wherever it is needed', async () => {
        const controls = { ...all, expiresMs: clock.ms + 1 };
        const headers = digest('headers');
        const { id, ...made } = await subscribed({ controls, headers });
        assert.deepEqual(made.controls, controls);
        assert.deepEqual(Buffer.from(made.headers ?? []), headers);
        const page = { limit: 5, after: undefined };
        const query = { appNo: app.no, page, state: undefined };
        const [listed] = (await store.read('subscriptions', query)).items;
        assert.deepEqual(listed, { id, ...made });
        const { born } = await dispatcher.publish({ room: 9 }, publishInput('a'));
        const callbacks = born.map((one) => one.callback);
        for (const target of await store.read('targets', { callbacks })) {
          assert.deepEqual(target.controls, controls);
          assert.deepEqual(Buffer.from(target.headers ?? []), headers);
        }
      });

      it('refuses what would have ended before it began, and writes nothing', async () => {
        const idempotency = { key: digest(newId()), print: digest('request') };
        const subscription = newSubscription(app, {
          controls: { ...noControls, expiresMs: clock.ms },
        });
        const input = { subscription, idempotency };
        assert.deepEqual(await store.edit('subscribe', input), { kind: 'expired' });
        assert.equal(await find(subscription.id), undefined);
        clock.ms -= 1;
        assert.equal((await store.edit('subscribe', input)).kind, 'created', 'nor the key');
        clock.ms += 1_000;
        assert.equal((await store.edit('subscribe', input)).kind, 'repeated', 'later, too');
      });
    });

    describe('editSubscription', () => {
      it('changes all that is chosen in one step, and nothing where nothing is', async () => {
        const old = await subscribed({ controls: { ...all, expiresMs: clock.ms + 9 } });
        const untouched = await edit(old, { state: 'paused' });
        assert.deepEqual(untouched.controls, old.controls);
        const controls = { ...noControls, description: 'new' };
        const chosen = { controls, headers: digest('new') };
        const changed = await edit(untouched, { state: 'active', chosen });
        assert.deepEqual(changed.controls, controls);
        assert.deepEqual(Buffer.from(changed.headers ?? []), digest('new'));
        const none = { controls: noControls, headers: undefined };
        const { headers, controls: left } = await edit(changed, { chosen: none });
        assert.deepEqual([headers, left], [undefined, noControls]);
      });

      it('refuses an end that is past, and whatever comes after the end', async () => {
        const old = await subscribed({ controls: { ...noControls, expiresMs: clock.ms + 100 } });
        const chosen = (expiresMs: number) => ({
          chosen: { controls: { ...noControls, expiresMs }, headers: undefined },
        });
        const events = [{ position: 0, events: ['b'] }];
        const past = await tryEdit(old, { events, ...chosen(clock.ms) });
        assert.deepEqual(past, { kind: 'expired' });
        assert.deepEqual((await find(old.id))?.callbacks, old.callbacks);
        const prolonged = await edit(old, chosen(clock.ms + 200));
        clock.ms += 199;
        const other = await edit(prolonged, { state: 'paused' });
        clock.ms += 1;
        assert.deepEqual(await tryEdit(other, chosen(clock.ms + 1)), { kind: 'ended' });
      });

      it('lets a callback hear other events from then on', async () => {
        const old = await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'b')] });
        const events = [{ position: 0, events: ['c.*', 'b'] }];
        const changed = await edit(old, { events });
        assert.deepEqual(
          changed.callbacks.map((one) => one.events),
          [['c.*', 'b'], ['b']],
        );
        const counts = async () =>
          Promise.all(['a', 'b', 'c', 'c.d'].map(async (what) => heard(what)));
        assert.deepEqual(await counts(), [0, 2, 0, 1]);
        const back = await edit(changed, { events: [{ position: 0, events: ['a'] }] });
        assert.deepEqual(await counts(), [1, 1, 0, 0]);
        await edit(back, { events: [{ position: 0, events: ['c.*', 'a'] }] });
        assert.deepEqual(await counts(), [1, 1, 0, 1]);
      });

      it('gives a callback one delivery of an event, however many of its patterns hear it', async () => {
        const old = await subscribed({ callbacks: [callback(0, 'a')] });
        await edit(old, { events: [{ position: 0, events: ['a.b.c', '*', 'a.*', 'a.b.*'] }] });
        assert.equal(await heard('a.b.c'), 1);
        assert.equal(await heard('a.b.c', { kind: 'subscription', id: old.id }), 1);
        assert.equal(await heard('x', { kind: 'subscription', id: old.id }), 1);
      });

      it('tells an addressed callback by any of its patterns', async () => {
        const { id } = await subscribed({ callbacks: [callback(0, 'a b.*'), callback(1, 'c')] });
        const counts = ['a', 'b.x', 'b', 'c', 'd'].map(async (what) =>
          heard(what, { kind: 'subscription', id }),
        );
        assert.deepEqual(await Promise.all(counts), [1, 1, 0, 1, 0]);
        assert.equal(await heard('ringback.ping', { kind: 'all_callbacks', id }), 2);
      });

      it("hears Ringback's own events of no contract, beside those of its own", async () => {
        const old = await subscribed({ callbacks: [callback(0, '*')] });
        await edit(old, { events: [{ position: 0, events: ['ringback.delivery.*', 'a'] }] });
        assert.equal(await heard('ringback.delivery.dead', { kind: 'everyone' }, ''), 1);
        assert.equal(await heard('ringback.delivery.dead'), 0);
        assert.equal(await heard('a'), 1);
        assert.equal(await heard('a', { kind: 'everyone' }, ''), 0);
      });

      it('keeps what a callback without a target is to hear until it has one', async () => {
        const old = await subscribed({ callbacks: [callback(0, 'a'), inactive(1, 'b')] });
        const deaf = await edit(old, { events: [{ position: 1, events: ['c', 'd'] }] });
        assert.deepEqual(deaf.callbacks[1]?.events, ['c', 'd']);
        assert.deepEqual([await heard('b'), await heard('c')], [0, 0]);
        const urls = [{ position: 1, url: 'https://new.example/' }];
        const events = [{ position: 1, events: ['c', 'e'] }];
        await edit(deaf, { urls, events });
        assert.deepEqual([await heard('c'), await heard('d'), await heard('e')], [1, 0, 1]);
      });

      it('marks new patterns of a subscription that filters', async () => {
        const filter = { '/a': [1] };
        const old = await subscribed({ controls: { ...noControls, filter } });
        await edit(old, { events: [{ position: 0, events: ['new'] }] });
        assert.equal(await heard('new'), 0);
        const payload = Buffer.from('{"a":1}');
        const input = publishInput('new', { payload });
        const output = await store.edit('publish', input);
        assert(output.kind === 'accepted');
        assert.equal(output.events[0]?.deliveries, 1);
      });
    });

    describe('a large fan-out', () => {
      const many = limits.targetsAtOnceMax + 1;

      it('reaches each callback once, by whichever of two patterns, and those it had', async () => {
        const made: Subscription[] = [];
        for (let left = many + 30; left > 0; left -= 64) {
          const length = Math.min(left, 64);
          // Half of them hear it twice, half by one of two patterns.
          const callbacks = Array.from({ length }, (_, at) =>
            callback(at, ['a.b a.*', 'a.b', 'a.* *'][at % 3] ?? ''),
          );
          made.push(await subscribed({ callbacks }));
        }
        const [first, second] = made;
        assert(first && second);
        const output = await store.edit('publish', publishInput('a.b'));
        assert(output.kind === 'accepted');
        const event = output.events[0];
        assert(event);
        assert.equal(event.deliveries, undefined);
        // It goes to those who heard it then, in spite of what they hear now.
        await edit(first, { events: [{ position: 0, events: ['other'] }] });
        await edit(second, { events: [{ position: 0, events: ['a.b', 'a.*', '*', 'new'] }] });
        await subscribed({ callbacks: [callback(0, 'a.b')] });
        while ((await dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        const found = await store.read('event', { appNo: app.no, id: event.id });
        assert.equal(found?.deliveries, many + 30);
      });

      it('is counted right where the first listeners of a pattern were found before', async () => {
        // 250 hear it by `a.b`, and they come first among the 260 of `a.*`.
        const both = Array.from({ length: 50 }, (_, at) => callback(at, 'a.b a.*'));
        for (let i = 0; i < 5; i += 1) await subscribed({ callbacks: both });
        await subscribed({ callbacks: Array.from({ length: 5 }, (_, at) => callback(at, 'a.*')) });
        assert.equal(await heard('a.b'), 255);
      });
    });

    describe('expiring', () => {
      it('names those whose time is over, the first ones first, and when the next one is', async () => {
        const left = await store.read('expiring', { beforeMs: clock.ms, limit: 64 });
        for (const one of left.expired) await store.edit('expireSubscription', one);
        const at = async (ms: number) =>
          (await subscribed({ controls: { ...noControls, expiresMs: clock.ms + ms } })).id;
        const [third, first, second] = [await at(30), await at(10), await at(20)];
        await subscribed();
        const read = async (ms: number, limit = 9) => {
          const found = await store.read('expiring', { beforeMs: clock.ms + ms, limit });
          const next = found.nextMs === undefined ? undefined : found.nextMs - clock.ms;
          return [found.expired.map(({ id }) => id), next];
        };
        assert.deepEqual(await read(9), [[], 10]);
        assert.deepEqual(await read(20), [[first, second], 30]);
        assert.deepEqual(await read(20, 1), [[first], 20]);
        assert.deepEqual(await read(30), [[first, second, third], undefined]);
        clock.ms += 20;
        for (const id of [first, second]) {
          const output = await store.edit('expireSubscription', { appNo: app.no, id });
          assert.deepEqual(output, { kind: 'ended' });
        }
        assert.deepEqual(await read(0), [[], 10]);
        const kept = await store.edit('expireSubscription', { appNo: app.no, id: third });
        assert.deepEqual(kept, { kind: 'kept' });
        await store.edit('unsubscribe', { appNo: app.no, id: third });
        assert.deepEqual(await read(0), [[], undefined]);
      });
    });

    describe('expireSubscription', () => {
      it('ends it like an unsubscribe, once', async () => {
        const controls = { ...noControls, expiresMs: clock.ms + 10 };
        const old = await subscribed({ controls, callbacks: [callback(0, 'a')] });
        assert.equal(await heard('a'), 1);
        clock.ms += 10;
        const input = { appNo: app.no, id: old.id };
        assert.deepEqual(await store.edit('expireSubscription', input), { kind: 'ended' });
        const ended = await find(old.id);
        assert.deepEqual([ended?.state, ended?.endedMs], ['ended', clock.ms]);
        assert.ok((ended?.version ?? 0) > old.version);
        assert.equal(await heard('a'), 0);
        clock.ms += 1;
        assert.deepEqual(await store.edit('expireSubscription', input), { kind: 'kept' });
        assert.deepEqual(await find(old.id), ended);
        assert.equal((await store.edit('sweep', { limit: 9 })).cancelled, 1);
      });

      it('leaves alone what was prolonged, has no end, is unknown or of another app', async () => {
        const old = await subscribed({ controls: { ...noControls, expiresMs: clock.ms + 10 } });
        const controls = { ...noControls, expiresMs: clock.ms + 100 };
        await edit(old, { chosen: { controls, headers: undefined } });
        const endless = await subscribed();
        clock.ms += 99;
        const other = await newApp(store);
        for (const input of [
          { appNo: app.no, id: old.id },
          { appNo: app.no, id: endless.id },
          { appNo: app.no, id: newId() },
          { appNo: other.no, id: old.id },
        ]) {
          assert.deepEqual(await store.edit('expireSubscription', input), { kind: 'kept' });
        }
        clock.ms += 1;
        const foreign = { appNo: other.no, id: old.id };
        assert.deepEqual(await store.edit('expireSubscription', foreign), { kind: 'kept' });
        assert.equal((await find(old.id))?.state, 'active');
      });
    });

    describe('forgetPatterns', () => {
      it('deletes what nobody hears by any more, once no fan-out can look for it', async () => {
        const forget = async (beforeMs = clock.ms, limit = 9): Promise<number> =>
          (await store.edit('forgetPatterns', { beforeMs, limit })).deleted;
        await forget(Number.MAX_SAFE_INTEGER, 10_000);
        let one = await subscribed({ callbacks: [callback(0, 'a b c')] });
        for (let left = limits.targetsAtOnceMax + 1; left > 0; left -= 64) {
          const length = Math.min(left, 64);
          await subscribed({ callbacks: Array.from({ length }, (_, at) => callback(at, 'z')) });
        }
        clock.ms += limits.patternKeepMs;
        one = await edit(one, { events: [{ position: 0, events: ['a'] }] });
        clock.ms += 1;
        await store.edit('publish', publishInput('z')); // Its fan-out waits.
        clock.ms += limits.patternKeepMs;
        assert.equal(await forget(clock.ms - limits.patternKeepMs), 0, 'the fan-out is too young');
        while ((await dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        assert.equal(await forget(clock.ms - limits.patternKeepMs - 1), 0, 'it died too late');
        assert.equal(await forget(clock.ms - limits.patternKeepMs, 1), 1, 'no more than asked for');
        assert.equal(await forget(clock.ms - limits.patternKeepMs), 1);
        assert.equal(await forget(clock.ms - limits.patternKeepMs), 0);
        assert.deepEqual(one.callbacks[0]?.events, ['a']);
        assert.deepEqual([await heard('a'), await heard('b')], [1, 0]);
      });
    });

    async function find(id: string): Promise<Subscription | undefined> {
      return store.read('subscription', { appNo: app.no, id });
    }

    async function subscribed(changes: Partial<NewSubscription> = {}): Promise<Subscription> {
      const subscription = newSubscription(app, changes);
      const output = await store.edit('subscribe', { subscription, idempotency: undefined });
      assert(output.kind === 'created');
      return output.subscription;
    }

    type Changes = Partial<EditInput<'editSubscription'>>;

    async function tryEdit({ id, version }: Subscription, changes: Changes) {
      const nothing = { state: undefined, urls: [], secrets: undefined };
      return store.edit('editSubscription', { appNo: app.no, id, version, ...nothing, ...changes });
    }

    async function edit(old: Subscription, changes: Changes): Promise<Subscription> {
      const output = await tryEdit(old, changes);
      assert(output.kind === 'edited', output.kind);
      assert.deepEqual(await find(old.id), output.subscription);
      return output.subscription;
    }

    function publishInput(
      what: string,
      changes: { payload?: Uint8Array; audience?: EditInput<'publish'>['audience'] } = {},
    ): EditInput<'publish'> {
      const { payload = Buffer.from('{}'), audience = { kind: 'everyone' } } = changes;
      const events = [{ id: newId(), name: what, payload }];
      return { appNo: app.no, contract: 'Ringback', events, audience, idempotency: undefined };
    }

    /** How many deliveries an event of this name gets. */
    async function heard(
      what: string,
      audience: EditInput<'publish'>['audience'] = { kind: 'everyone' },
      contract = 'Ringback',
    ): Promise<number | undefined> {
      const output = await store.edit('publish', { ...publishInput(what, { audience }), contract });
      assert(output.kind === 'accepted');
      return output.events[0]?.deliveries;
    }
  });
}
