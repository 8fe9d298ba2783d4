// The contract of the Store port: replays, which deliveries they select, and their lifecycle.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { progressOf, type ReplayFilter } from '../../src/core/domain/replay.ts';
import { digest, newApp, type OpenSubject } from './subject.ts';
import { everything, fits, nameOf, oldestFirst, replayStage, startMs } from './replay-stage.ts';

export function replayContract(name: string, open: OpenSubject): void {
  describe(`the contract of replays: ${name}`, () => {
    const {
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
      leased,
      ended,
      settle,
      many,
    } = replayStage(open);
    const { clock, newId } = on;

    describe('createReplay', () => {
      it('stores it with its filter, its start and its end', async () => {
        const { id: subscription } = await subscribed();
        const first = await ended('dead', { subscription, about: 'one' });
        const last = await ended('dead', { subscription, about: 'one' });
        await ended('dead', { subscription });
        const filter: ReplayFilter = {
          state: 'dead',
          event: 'a.*',
          subject: 'one',
          customer: undefined,
          subscription,
          status: '5xx',
          error: 'status',
          fromMs: startMs - 5,
          untilMs: startMs + 5_000,
        };
        const replay = await created(filter, 7);
        assert.deepEqual(structuredClone(replay), {
          id: replay.id,
          appNo: on.app.no,
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

      it('is done at once if nothing can match', async () => {
        await ended('delivered');
        for (const filter of [
          { state: 'dead' } as const,
          { fromMs: clock.ms + 1 },
          { untilMs: startMs },
          { subject: 'one' },
        ]) {
          const replay = await created({ ...everything, ...filter });
          assert.deepEqual([replay.state, replay.endedMs], ['done', clock.ms]);
          assert.equal(progressOf(replay), 1);
        }
      });

      it('answers a repetition with the first replay, and refuses another request with the same key', async () => {
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

      it('treats a repetition of a deleted replay as a new request', async () => {
        await ended('dead');
        const idempotency = { key: digest('key').subarray(0, 16), print: digest('one') };
        const first = await create(everything, { idempotency });
        assert(first.kind === 'created');
        await on.store.edit('cancelReplay', { appNo: on.app.no, id: first.replay.id });
        await on.store.edit('forgetReplays', { endedBeforeMs: clock.ms + 1, limit: 9 });
        const next = await create(everything, { idempotency });
        assert(next.kind === 'created');
        assert.notEqual(next.replay.id, first.replay.id);
        const again = await create(everything, { idempotency });
        assert.deepEqual(again, { kind: 'repeated', replay: next.replay });
      });

      it('limits running replays per app, and does not store the key of a refusal', async () => {
        const one = await ended('dead');
        const idempotency = { key: digest('key').subarray(0, 16), print: digest('one') };
        const first = await created(everything);
        await created(everything);
        assert.deepEqual(await create(everything, { runningMax: 2, idempotency }), {
          kind: 'too_many',
        });
        const other = await newApp(on.store);
        assert.equal((await create(everything, { runningMax: 2, owner: other })).kind, 'created');
        await on.store.edit('cancelReplay', { appNo: on.app.no, id: first.id });
        const made = await create(everything, { runningMax: 2, idempotency });
        assert(made.kind === 'created' && made.replay.firstEvent === one.event);
      });
    });

    describe('replays', () => {
      it('are listed newest first, page by page, for one app only', async () => {
        const made = [await created(), await created(), await created()];
        const other = await newApp(on.store);
        await create(everything, { owner: other });
        const first = await on.store.read('replays', {
          appNo: on.app.no,
          page: { limit: 2, after: undefined },
        });
        assert.deepEqual(first.items, [made[2], made[1]]);
        const page = { limit: 2, after: first.next };
        const second = await on.store.read('replays', { appNo: on.app.no, page });
        assert.deepEqual(second, { items: [made[0]], next: undefined });
        const id = made[0]?.id ?? '';
        assert.equal(await on.store.read('replay', { appNo: other.no, id }), undefined);
        assert.equal(await find(newId()), undefined);
      });

      it('survive a restart, and are deleted some time after their end', async () => {
        await ended('dead');
        const [running, done] = [await created(), await created({ ...everything, fromMs: 9e12 })];
        if (on.subject.reopen !== undefined) await on.reopen();
        assert.deepEqual(await find(running.id), running);
        const forget = async (endedBeforeMs: number): Promise<number> => {
          const output = await on.store.edit('forgetReplays', { endedBeforeMs, limit: 9 });
          return output.deleted;
        };
        assert.equal(await forget(clock.ms), 0);
        assert.equal(await forget(clock.ms + 1), 1);
        assert.equal(await find(done.id), undefined);
        assert.equal((await list()).length, 1);
      });
    });

    describe('runningReplays', () => {
      it('returns running replays of all apps by due time', async () => {
        for (let i = 0; i < 4; i += 1) await ended('dead');
        const slow = await created(everything, 1);
        const fast = await created(everything, 1000);
        const gone = await created();
        await on.store.edit('cancelReplay', { appNo: on.app.no, id: gone.id });
        await step(slow, 1);
        await step(fast, 1);
        const ids = async (limit: number): Promise<string[]> =>
          (await on.store.read('runningReplays', { limit })).map(({ id }) => id);
        assert.deepEqual(await ids(9), [fast.id, slow.id]);
        assert.deepEqual(await ids(1), [fast.id]);
      });
    });

    describe('replayable', () => {
      it('finds exactly the matching deliveries, oldest first, in chunks of any size', async () => {
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

      it('examines a bounded number of rows, and returns its position', async () => {
        const others = await newApp(on.store);
        await many(others, limits.replayRowsExaminedMax + 10);
        const one = await ended('delivered');
        const range = await on.store.read('replayRange', { appNo: on.app.no, filter: everything });
        assert(range !== undefined);
        const input = { appNo: on.app.no, filter: everything, endedByMs: clock.ms, limit: 5 };
        const begin = { event: range.firstEvent, n: -1, below: 1 };
        const first = await on.store.read('replayable', { ...input, ...range, after: begin });
        assert.deepEqual([first.names, first.isLast], [[], false]);
        const after = { ...first.reached, below: 1 };
        const second = await on.store.read('replayable', { ...input, ...range, after });
        assert.deepEqual([second.names, second.isLast], [[nameOf(one)], true]);
      });

      it('ignores deliveries that ended after the replay was created', async () => {
        const first = await ended('dead');
        const late = await leased();
        const last = await ended('dead');
        const replay = await created();
        clock.ms += 1;
        await settle(late, 'dead');
        assert.deepEqual((await walkOf(replay, 9)).names, [first, last].map(nameOf));
      });
    });
  });
}
