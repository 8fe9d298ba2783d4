// The contract of the Store port: settings of a subscription, event patterns of its callbacks, and its expiry.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { callback, digest, inactive, newSubscription, type OpenSubject } from './subject.ts';
import { all, controlsStage } from './controls-stage.ts';

export function controlsContract(name: string, open: OpenSubject): void {
  describe(`the controls contract: ${name}`, () => {
    const { on, find, subscribed, tryEdit, edit, publishInput, countMatches } = controlsStage(open);
    const { clock, newId } = on;

    describe('subscribe', () => {
      it('stores the settings, and returns them wherever they are needed', async () => {
        const controls = { ...all, expiresMs: clock.ms + 1 };
        const headers = digest('headers');
        const { id, ...made } = await subscribed({ controls, headers });
        assert.deepEqual(made.controls, controls);
        assert.deepEqual(made.headers, headers);
        const page = { limit: 5, after: undefined };
        const query = { appNo: on.app.no, page, state: undefined };
        const [listed] = (await on.store.read('subscriptions', query)).items;
        assert.deepEqual(listed, { id, ...made });
        const { fresh } = await on.dispatcher.publish({ room: 9 }, publishInput('a'));
        const callbacks = fresh.map((one) => one.callback);
        for (const target of await on.store.read('targets', { callbacks })) {
          assert.deepEqual(target.controls, controls);
          assert.deepEqual(target.headers, headers);
        }
      });

      it('refuses a subscription that has already expired, and writes nothing', async () => {
        const idempotency = { key: digest(newId()), print: digest('request') };
        const subscription = newSubscription(on.app, {
          controls: { ...noControls, expiresMs: clock.ms },
        });
        const input = { subscription, idempotency };
        assert.deepEqual(await on.store.edit('subscribe', input), { kind: 'expired' });
        assert.equal(await find(subscription.id), undefined);
        clock.ms -= 1;
        assert.equal(
          (await on.store.edit('subscribe', input)).kind,
          'created',
          'the key was not stored either',
        );
        clock.ms += 1_000;
        assert.equal((await on.store.edit('subscribe', input)).kind, 'repeated', 'later, too');
      });
    });

    describe('editSubscription', () => {
      it('changes all given settings in one step, and nothing without settings', async () => {
        const old = await subscribed({ controls: { ...all, expiresMs: clock.ms + 9 } });
        const untouched = await edit(old, { state: 'paused' });
        assert.deepEqual(untouched.controls, old.controls);
        const controls = { ...noControls, description: 'new' };
        const chosen = { controls, headers: digest('new') };
        const changed = await edit(untouched, { state: 'active', chosen });
        assert.deepEqual(changed.controls, controls);
        assert.deepEqual(changed.headers, digest('new'));
        const none = { controls: noControls, headers: undefined };
        const { headers, controls: left } = await edit(changed, { chosen: none });
        assert.deepEqual([headers, left], [undefined, noControls]);
      });

      it('refuses an expiry in the past, and any edit after the end', async () => {
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

      it('changes the event patterns of a callback', async () => {
        const old = await subscribed({ callbacks: [callback(0, 'a'), callback(1, 'b')] });
        const events = [{ position: 0, events: ['c.*', 'b'] }];
        const changed = await edit(old, { events });
        assert.deepEqual(
          changed.callbacks.map((one) => one.events),
          [['c.*', 'b'], ['b']],
        );
        const counts = async () =>
          Promise.all(['a', 'b', 'c', 'c.d'].map(async (what) => countMatches(what)));
        assert.deepEqual(await counts(), [0, 2, 0, 1]);
        const back = await edit(changed, { events: [{ position: 0, events: ['a'] }] });
        assert.deepEqual(await counts(), [1, 1, 0, 0]);
        await edit(back, { events: [{ position: 0, events: ['c.*', 'a'] }] });
        assert.deepEqual(await counts(), [1, 1, 0, 1]);
      });

      it('creates one delivery per callback, however many of its patterns match', async () => {
        const old = await subscribed({ callbacks: [callback(0, 'a')] });
        await edit(old, { events: [{ position: 0, events: ['a.b.c', '*', 'a.*', 'a.b.*'] }] });
        assert.equal(await countMatches('a.b.c'), 1);
        assert.equal(await countMatches('a.b.c', { kind: 'subscription', id: old.id }), 1);
        assert.equal(await countMatches('x', { kind: 'subscription', id: old.id }), 1);
      });

      it('delivers an addressed event if any pattern of the callback matches', async () => {
        const { id } = await subscribed({ callbacks: [callback(0, 'a b.*'), callback(1, 'c')] });
        const counts = ['a', 'b.x', 'b', 'c', 'd'].map(async (what) =>
          countMatches(what, { kind: 'subscription', id }),
        );
        assert.deepEqual(await Promise.all(counts), [1, 1, 0, 1, 0]);
        assert.equal(await countMatches('ringback.ping', { kind: 'all_callbacks', id }), 2);
      });

      it("matches Ringback's own events in addition to those of its contract", async () => {
        const old = await subscribed({ callbacks: [callback(0, '*')] });
        await edit(old, { events: [{ position: 0, events: ['ringback.delivery.*', 'a'] }] });
        assert.equal(await countMatches('ringback.delivery.dead', { kind: 'everyone' }, ''), 1);
        assert.equal(await countMatches('ringback.delivery.dead'), 0);
        assert.equal(await countMatches('a'), 1);
        assert.equal(await countMatches('a', { kind: 'everyone' }, ''), 0);
      });

      it('keeps the patterns of a callback without a URL until it has one', async () => {
        const old = await subscribed({ callbacks: [callback(0, 'a'), inactive(1, 'b')] });
        const deaf = await edit(old, { events: [{ position: 1, events: ['c', 'd'] }] });
        assert.deepEqual(deaf.callbacks[1]?.events, ['c', 'd']);
        assert.deepEqual([await countMatches('b'), await countMatches('c')], [0, 0]);
        const urls = [{ position: 1, url: 'https://new.example/' }];
        const events = [{ position: 1, events: ['c', 'e'] }];
        await edit(deaf, { urls, events });
        assert.deepEqual(
          [await countMatches('c'), await countMatches('d'), await countMatches('e')],
          [1, 0, 1],
        );
      });

      it('marks new patterns of a subscription with a filter', async () => {
        const filter = { '/a': [1] };
        const old = await subscribed({ controls: { ...noControls, filter } });
        await edit(old, { events: [{ position: 0, events: ['new'] }] });
        assert.equal(await countMatches('new'), 0);
        const payload = Buffer.from('{"a":1}');
        const input = publishInput('new', { payload });
        const output = await on.store.edit('publish', input);
        assert(output.kind === 'accepted');
        assert.equal(output.events[0]?.deliveries, 1);
      });
    });
  });
}
