// The contract of the Store port: the steps of a replay.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { pendingOf } from '../../src/core/telemetry/statistics.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { progressOf } from '../../src/core/domain/replay.ts';
import { callback, newApp, type OpenSubject } from './subject.ts';
import { everything, nameOf, replayStage } from './replay-stage.ts';

export function advanceReplayContract(name: string, open: OpenSubject): void {
  describe(`the contract of replays: ${name}`, () => {
    const { on, walkOf, step, created, find, subscribed, publishInput, ended, settle, tally } =
      replayStage(open);
    const { clock, newId } = on;

    describe('advanceReplay', () => {
      it('revives a dead delivery under its own id, with the schedule from the start', async () => {
        const one = await ended('dead');
        const replay = await step(await created({ ...everything, state: 'dead' }), 9);
        assert.deepEqual(
          [replay.state, replay.matched, replay.replayed, replay.skipped, replay.endedMs],
          ['done', 1, 1, 0, clock.ms],
        );
        const [again] = (await on.dispatcher.claim({ room: 9 })).claimed;
        assert.deepEqual(
          [again?.event, again?.n, again?.tries, again?.attempts],
          [one.event, one.n, 0, 1],
        );
        assert.deepEqual(await tally(), { running: 1 });
        const counts = await on.store.read('counts', { appNo: on.app.no });
        assert.deepEqual([counts.made, counts.revived, pendingOf(counts)], [1, 1, 1]);
      });

      it('creates a new delivery of the same event for a delivered or cancelled one', async () => {
        const { id: subscription } = await subscribed([callback(0, '*'), callback(1, '*')]);
        const input = publishInput('a.b', { kind: 'subscription', id: subscription });
        const { fresh } = await on.dispatcher.publish({ room: 9 }, input);
        for (const [index, one] of fresh.entries()) {
          await settle(one, index === 0 ? 'delivered' : 'cancelled');
        }
        await step(await created(), 9);
        const { claimed } = await on.dispatcher.claim({ room: 9 });
        const [event] = new Set(fresh.map((one) => one.event));
        assert.deepEqual(
          new Set(claimed.map((one) => [one.event, one.n, one.attempts, one.callback].join())),
          new Set(fresh.map((one) => [event, one.n + 2, 0, one.callback].join())),
        );
        assert.equal(
          (await on.store.read('event', { appNo: on.app.no, id: event ?? '' }))?.deliveries,
          4,
        );
        assert.deepEqual(await tally(), { running: 2, delivered: 1, cancelled: 1 });
        const counts = await on.store.read('counts', { appNo: on.app.no });
        assert.deepEqual([counts.made, counts.revived, pendingOf(counts)], [4, 0, 2]);
      });

      it('skips deliveries that are pending, ended again, deleted, or without a subscription', async () => {
        const { id } = await subscribed();
        const orphan = await ended('dead', { subscription: id });
        const again = await ended('dead');
        const pending = await ended('dead');
        const good = await ended('dead');
        const replay = await created();
        const { names, reached, isLast } = await walkOf(replay, 9);
        assert.deepEqual(names, [orphan, again, pending, good].map(nameOf));
        await on.store.edit('retryDelivery', { appNo: on.app.no, ...nameOf(again) });
        clock.ms += 1;
        for (const one of (await on.dispatcher.claim({ room: 9 })).claimed)
          await settle(one, 'dead');
        await on.store.edit('retryDelivery', { appNo: on.app.no, ...nameOf(pending) });
        await on.store.edit('unsubscribe', { appNo: on.app.no, id });
        const gone = { event: reached.event, n: 77 };
        const input = { id: replay.id, from: replay.cursor, to: reached, isLast };
        const output = await on.store.edit('advanceReplay', { ...input, names: [...names, gone] });
        assert(output.kind === 'stepped');
        const { matched, replayed, skipped } = output.replay;
        assert.deepEqual([matched, replayed, skipped], [5, 1, 4]);
      });

      it('lets only one of several concurrent steps take effect', async () => {
        await ended('dead');
        await ended('delivered');
        const replay = await created();
        const { names, reached: to, isLast } = await walkOf(replay, 1);
        const input = { id: replay.id, from: replay.cursor, to, names, isLast };
        const outputs = await Promise.all(
          [1, 2, 3].map(async () => on.store.edit('advanceReplay', input)),
        );
        assert.deepEqual(outputs.map(({ kind }) => kind).sort(), ['moved', 'moved', 'stepped']);
        assert.equal((await find(replay.id))?.replayed, 1);
        assert.deepEqual(await tally(), { due: 1, delivered: 1 });
      });

      it('does nothing after a cancel, which can be repeated', async () => {
        await ended('dead');
        const replay = await created();
        const { names, reached: to, isLast } = await walkOf(replay, 1);
        const cancel = { appNo: on.app.no, id: replay.id };
        const cancelled = await on.store.edit('cancelReplay', cancel);
        assert(cancelled.kind === 'cancelled' && cancelled.replay.endedMs === clock.ms);
        clock.ms += 5;
        const repeated = await on.store.edit('cancelReplay', cancel);
        assert.deepEqual(repeated, { ...cancelled, isRepeated: true });
        const input = { id: replay.id, from: replay.cursor, to, names, isLast };
        assert.deepEqual(await on.store.edit('advanceReplay', input), { kind: 'moved' });
        assert.deepEqual(await tally(), { dead: 1 });
        const done = await created({ ...everything, fromMs: 9e12 });
        const late = await on.store.edit('cancelReplay', { ...cancel, id: done.id });
        assert.deepEqual(late, { kind: 'done' });
        const other = await newApp(on.store);
        for (const unknown of [
          { appNo: other.no, id: replay.id },
          { ...cancel, id: newId() },
        ]) {
          assert.deepEqual(await on.store.edit('cancelReplay', unknown), { kind: 'not_found' });
        }
      });

      it('never finds its own deliveries, even after the clock was set back', async () => {
        const { id: subscription } = await subscribed([callback(0, '*'), callback(1, '*')]);
        const input = publishInput('a.b', { kind: 'subscription', id: subscription });
        for (const one of (await on.dispatcher.publish({ room: 9 }, input)).fresh) {
          await settle(one, 'delivered');
        }
        let replay = await created();
        clock.ms -= 60_000;
        for (let steps = 1; replay.state === 'running'; steps += 1) {
          assert(steps < 9, 'the replay finds its own deliveries');
          replay = await step(replay, 1);
          clock.ms += 10;
          for (const one of (await on.dispatcher.claim({ room: 9 })).claimed) {
            await settle(one, 'delivered');
          }
        }
        assert.equal(replay.replayed, 2);
        assert.deepEqual(await tally(), { delivered: 4 });
      });

      it('schedules the next step by its rate, and catches up a little', async () => {
        for (let i = 0; i < 5; i += 1) await ended('dead');
        const { createdMs, ...replay } = await created(everything, 4);
        const first = await step({ ...replay, createdMs }, 2);
        assert.equal(first.nextMs, createdMs + 500);
        clock.ms = createdMs + 900;
        const second = await step(first, 1);
        assert.equal(second.nextMs, createdMs + 750, 'a delay is made up for');
        clock.ms = createdMs + 100_000;
        const third = await step(second, 1);
        assert.equal(
          third.nextMs,
          clock.ms - limits.replayCatchUpMs + 250,
          'but only up to a limit',
        );
        assert.equal(progressOf(third) > 0.5 && progressOf(third) < 1, true);
      });
    });
  });
}
