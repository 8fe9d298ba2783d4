// The contract of the Store port: large fan-outs to patterns that changed, and expiry of subscriptions.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Subscription } from '../../src/core/domain/subscription.ts';
import { callback, newApp, type OpenSubject } from './subject.ts';
import { controlsStage } from './controls-stage.ts';

export function expiryContract(name: string, open: OpenSubject): void {
  describe(`the controls contract: ${name}`, () => {
    const { on, find, subscribed, edit, publishInput, countMatches } = controlsStage(open);
    const { clock, newId } = on;

    describe('a large fan-out', () => {
      const many = limits.targetsAtOnceMax + 1;

      it('reaches each callback once, by any of its patterns, old ones included', async () => {
        const made: Subscription[] = [];
        for (let left = many + 30; left > 0; left -= 64) {
          const length = Math.min(left, 64);
          // Some match with two patterns, the others with one.
          const callbacks = Array.from({ length }, (_, at) =>
            callback(at, ['a.b a.*', 'a.b', 'a.* *'][at % 3] ?? ''),
          );
          made.push(await subscribed({ callbacks }));
        }
        const [first, second] = made;
        assert(first && second);
        const output = await on.store.edit('publish', publishInput('a.b'));
        assert(output.kind === 'accepted');
        const event = output.events[0];
        assert(event);
        assert.equal(event.deliveries, undefined);
        // The patterns at the time of the publish count, not the current ones.
        await edit(first, { events: [{ position: 0, events: ['other'] }] });
        await edit(second, { events: [{ position: 0, events: ['a.b', 'a.*', '*', 'new'] }] });
        await subscribed({ callbacks: [callback(0, 'a.b')] });
        while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        const found = await on.store.read('event', { appNo: on.app.no, id: event.id });
        assert.equal(found?.deliveries, many + 30);
      });

      it('is counted correctly if the first callbacks of a pattern were already found by another', async () => {
        // 250 match by `a.b`, and they come first among the 260 of `a.*`.
        const both = Array.from({ length: 50 }, (_, at) => callback(at, 'a.b a.*'));
        for (let i = 0; i < 5; i += 1) await subscribed({ callbacks: both });
        await subscribed({ callbacks: Array.from({ length: 5 }, (_, at) => callback(at, 'a.*')) });
        assert.equal(await countMatches('a.b'), 255);
      });
    });

    describe('expiring', () => {
      it('lists expired subscriptions, the earliest first, and the time of the next expiry', async () => {
        const left = await on.store.read('expiring', { beforeMs: clock.ms, limit: 64 });
        for (const one of left.expired) await on.store.edit('expireSubscription', one);
        const at = async (ms: number) =>
          (await subscribed({ controls: { ...noControls, expiresMs: clock.ms + ms } })).id;
        const [third, first, second] = [await at(30), await at(10), await at(20)];
        await subscribed();
        const read = async (ms: number, limit = 9) => {
          const found = await on.store.read('expiring', { beforeMs: clock.ms + ms, limit });
          const next = found.nextMs === undefined ? undefined : found.nextMs - clock.ms;
          return [found.expired.map(({ id }) => id), next];
        };
        assert.deepEqual(await read(9), [[], 10]);
        assert.deepEqual(await read(20), [[first, second], 30]);
        assert.deepEqual(await read(20, 1), [[first], 20]);
        assert.deepEqual(await read(30), [[first, second, third], undefined]);
        clock.ms += 20;
        for (const id of [first, second]) {
          const output = await on.store.edit('expireSubscription', { appNo: on.app.no, id });
          assert.deepEqual(output, { kind: 'ended' });
        }
        assert.deepEqual(await read(0), [[], 10]);
        const kept = await on.store.edit('expireSubscription', { appNo: on.app.no, id: third });
        assert.deepEqual(kept, { kind: 'kept' });
        await on.store.edit('unsubscribe', { appNo: on.app.no, id: third });
        assert.deepEqual(await read(0), [[], undefined]);
      });
    });

    describe('expireSubscription', () => {
      it('ends the subscription once, like an unsubscribe', async () => {
        const controls = { ...noControls, expiresMs: clock.ms + 10 };
        const old = await subscribed({ controls, callbacks: [callback(0, 'a')] });
        assert.equal(await countMatches('a'), 1);
        clock.ms += 10;
        const input = { appNo: on.app.no, id: old.id };
        assert.deepEqual(await on.store.edit('expireSubscription', input), { kind: 'ended' });
        const ended = await find(old.id);
        assert.deepEqual([ended?.state, ended?.endedMs], ['ended', clock.ms]);
        assert.ok((ended?.version ?? 0) > old.version);
        assert.equal(await countMatches('a'), 0);
        clock.ms += 1;
        assert.deepEqual(await on.store.edit('expireSubscription', input), { kind: 'kept' });
        assert.deepEqual(await find(old.id), ended);
        assert.equal((await on.store.edit('sweep', { limit: 9 })).cancelled, 1);
      });

      it('ignores a subscription that was prolonged, never expires, is unknown or of another app', async () => {
        const old = await subscribed({ controls: { ...noControls, expiresMs: clock.ms + 10 } });
        const controls = { ...noControls, expiresMs: clock.ms + 100 };
        await edit(old, { chosen: { controls, headers: undefined } });
        const endless = await subscribed();
        clock.ms += 99;
        const other = await newApp(on.store);
        for (const input of [
          { appNo: on.app.no, id: old.id },
          { appNo: on.app.no, id: endless.id },
          { appNo: on.app.no, id: newId() },
          { appNo: other.no, id: old.id },
        ]) {
          assert.deepEqual(await on.store.edit('expireSubscription', input), { kind: 'kept' });
        }
        clock.ms += 1;
        const foreign = { appNo: other.no, id: old.id };
        assert.deepEqual(await on.store.edit('expireSubscription', foreign), { kind: 'kept' });
        assert.equal((await find(old.id))?.state, 'active');
      });
    });

    describe('forgetPatterns', () => {
      it('deletes unused patterns once no fan-out can need them', async () => {
        const forget = async (beforeMs = clock.ms, limit = 9): Promise<number> =>
          (await on.store.edit('forgetPatterns', { beforeMs, limit })).deleted;
        await forget(Number.MAX_SAFE_INTEGER, 10_000);
        let one = await subscribed({ callbacks: [callback(0, 'a b c')] });
        for (let left = limits.targetsAtOnceMax + 1; left > 0; left -= 64) {
          const length = Math.min(left, 64);
          await subscribed({ callbacks: Array.from({ length }, (_, at) => callback(at, 'z')) });
        }
        clock.ms += limits.patternKeepMs;
        one = await edit(one, { events: [{ position: 0, events: ['a'] }] });
        clock.ms += 1;
        await on.store.edit('publish', publishInput('z')); // Its fan-out is pending.
        clock.ms += limits.patternKeepMs;
        assert.equal(await forget(clock.ms - limits.patternKeepMs), 0, 'the fan-out is too young');
        while ((await on.dispatcher.fanOut({ room: 0 })).fannedOut.isMore);
        assert.equal(
          await forget(clock.ms - limits.patternKeepMs - 1),
          0,
          'it was replaced too recently',
        );
        assert.equal(await forget(clock.ms - limits.patternKeepMs, 1), 1, 'no more than the limit');
        assert.equal(await forget(clock.ms - limits.patternKeepMs), 1);
        assert.equal(await forget(clock.ms - limits.patternKeepMs), 0);
        assert.deepEqual(one.callbacks[0]?.events, ['a']);
        assert.deepEqual([await countMatches('a'), await countMatches('b')], [1, 0]);
      });
    });
  });
}
