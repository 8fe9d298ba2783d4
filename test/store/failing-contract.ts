// The contract of the Store port: when a failing receiver is disabled, and when not.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { noControls } from '../../src/core/domain/controls.ts';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { newApp, type OpenSubject } from './subject.ts';
import { halfHourAfter, noticeStage } from './notice-stage.ts';

export function failingContract(name: string, open: OpenSubject): void {
  describe(`the notice contract: ${name}`, () => {
    const {
      on,
      subscribed,
      subscribedWith,
      edit,
      found,
      health,
      publish,
      claimed,
      fresh,
      settle,
      fail,
      breakDown,
      failNext,
      coarsen,
      disable,
      notices,
    } = noticeStage(open);
    const { clock } = on;

    describe('a receiver that has failed for five days', () => {
      it('is disabled with its subscription, and new deliveries stay pending', async () => {
        await subscribed('ringback.subscription.*');
        const one = await subscribed('*');
        const { lane, failingMs } = await breakDown(one);
        clock.ms = failingMs + limits.disableAfterMs - 1;
        assert.deepEqual(await failNext(one), { kind: 'settled' }, 'one millisecond too early');
        assert.deepEqual(await disable(lane), { kind: 'kept' });
        clock.ms = failingMs + limits.disableAfterMs + 60 * 60_000;
        assert.deepEqual(await failNext(one), { kind: 'overdue', appNo: on.app.no, lane });
        assert.deepEqual(await disable(lane), {
          kind: 'disabled',
          subscription: one.id,
          customer: undefined,
        });
        assert.deepEqual(await disable(lane), { kind: 'kept' });
        const { state, version } = await found(one);
        assert.equal(state, 'disabled');
        assert(version > one.version);
        assert.deepEqual(await claimed(await publish('a', one)), []);
        const [notice, ...others] = await notices();
        assert.deepEqual(others, []);
        const { message, ...facts } = notice?.payload ?? {};
        assert.match(String(message), /was disabled: its receiver https:\S+ has failed 12 times/);
        assert.deepEqual(facts, {
          subscriberId: `sub_${one.id}`,
          callbackUrl: 'https://receiver.example/0',
          reason: 'failing',
          failures: brokenAfter + 2,
          failingSince: new Date(failingMs).toISOString(),
          at: new Date(clock.ms).toISOString(),
        });
      });

      it('starts over when it is enabled again', async () => {
        const one = await subscribed('*');
        const { lane, failingMs } = await breakDown(one);
        clock.ms = failingMs + limits.disableAfterMs;
        await failNext(one);
        assert.equal((await disable(lane)).kind, 'disabled');
        const waiting = await publish('a', one);
        await edit(one, { state: 'active' });
        assert.equal((await health(one)).state, 'ok');
        const [again] = await claimed(waiting);
        assert(again);
        assert.deepEqual(await fail(again), { kind: 'settled' });
        assert.equal((await health(one)).failures, 1);
      });

      it('does not affect the receiver that replaces it', async () => {
        for (const controls of [{}, { ordered: true }, { ratePerSecond: 50 }]) {
          const one = await subscribedWith(controls, 'a', 'b');
          const { failingMs } = await breakDown(one);
          clock.ms = failingMs + limits.disableAfterMs - 1;
          await failNext(one);
          const waiting = await publish('a', one);
          const { url = '' } = one.callbacks[0] ?? {};
          await edit(one, { urls: [{ position: 0, url }] });
          assert.equal((await health(one)).state, 'open', 'the same URL is the same receiver');
          assert.deepEqual(await claimed(waiting), []);
          clock.ms += 1_000;
          await edit(one, { urls: [{ position: 0, url: 'https://another.example/' }] });
          assert.equal((await health(one)).state, 'ok');
          const [first] = await claimed(waiting);
          assert(first, "it does not wait for the old receiver's circuit breaker");
          assert.deepEqual(await fail(first), { kind: 'settled' });
          assert.equal((await health(one)).failures, 1);
        }
      });

      it('keeps its failures when another receiver gets a new URL', async () => {
        const one = await subscribed('a', 'b');
        const { lane, failingMs } = await breakDown(one, 'a');
        clock.ms = failingMs + limits.disableAfterMs;
        await edit(one, { urls: [{ position: 1, url: 'https://another.example/' }] });
        assert.deepEqual(await failNext(one, 'a'), { kind: 'overdue', appNo: on.app.no, lane });
      });

      it('that gets a new URL while paused starts over when it is resumed', async () => {
        const one = await subscribed('a');
        await breakDown(one);
        const waiting = await publish('a', one);
        await edit(one, { state: 'paused' });
        await edit(one, { urls: [{ position: 0, url: 'https://another.example/' }] });
        assert.deepEqual(await claimed(waiting), []);
        await edit(one, { state: 'active' });
        assert.equal((await claimed(waiting)).length, 1);
      });

      it('leaves no failures in draining lanes to the receiver that replaces it', async () => {
        const one = await subscribed('a');
        const { failingMs } = await breakDown(one);
        const waiting = await publish('a', one);
        clock.ms = failingMs + limits.disableAfterMs;
        const chosen = { controls: { ...noControls, ordered: true }, headers: undefined };
        const urls = [{ position: 0, url: 'https://another.example/' }];
        await edit(one, { chosen, urls });
        const [first] = await claimed(waiting);
        assert(first);
        assert.deepEqual(await fail(first), { kind: 'settled' });
      });

      it('is not disabled while another receiver of the subscription succeeds', async () => {
        const one = await subscribed('a', 'b');
        const { lane, failingMs } = await breakDown(one, 'a');
        clock.ms = failingMs + 2 * 24 * 60 * 60 * 1000;
        await settle(await fresh('b', one), 'delivered');
        await on.store.edit('keepStatistics', { limit: 1_000 });
        clock.ms = failingMs + limits.disableAfterMs;
        assert.equal((await failNext(one, 'a')).kind, 'overdue');
        assert.deepEqual(await disable(lane), { kind: 'kept' });
        assert.equal((await found(one)).state, 'active');
        clock.ms += 60 * 60_000;
        assert.equal((await failNext(one, 'a')).kind, 'overdue', 'it is retried');
      });

      it('is not disabled if another succeeded after the failures began, even with coarse statistics', async () => {
        const one = await subscribed('a', 'b');
        clock.ms = halfHourAfter(clock.ms) + 10 * 60_000;
        const { lane, failingMs } = await breakDown(one, 'a');
        clock.ms += 5 * 60_000;
        await settle(await fresh('b', one), 'delivered');
        await coarsen(failingMs + limits.disableAfterMs);
        assert.equal((await failNext(one, 'a')).kind, 'overdue');
        assert.deepEqual(await disable(lane), { kind: 'kept' });
      });

      it('is disabled if only it succeeded, just before the failures began', async () => {
        const one = await subscribed('a', 'b');
        clock.ms = halfHourAfter(clock.ms) + 10 * 60_000;
        await breakDown(one, 'b');
        await settle(await fresh('a', one), 'delivered');
        clock.ms += 5 * 60_000;
        const { lane, failingMs } = await breakDown(one, 'a');
        await coarsen(failingMs + limits.disableAfterMs);
        await failNext(one, 'a');
        assert.equal((await disable(lane)).kind, 'disabled');
      });

      it("causes no event if it only matches Ringback's own events", async () => {
        await subscribed('ringback.*');
        const one = await subscribed('ringback.delivery.dead');
        const { lane, failingMs } = await breakDown(one, 'ringback.delivery.dead');
        clock.ms = failingMs + limits.disableAfterMs;
        await failNext(one, 'ringback.delivery.dead');
        assert.equal((await disable(lane)).kind, 'disabled');
        assert.deepEqual(await notices(), []);
      });

      it('cannot be disabled by another app', async () => {
        const one = await subscribed('*');
        const { lane, failingMs } = await breakDown(one);
        clock.ms = failingMs + limits.disableAfterMs;
        await failNext(one);
        const other = await newApp(on.store);
        const output = await on.store.edit('disableFailing', { appNo: other.no, lane });
        assert.deepEqual(output, { kind: 'kept' });
      });
    });
  });
}
