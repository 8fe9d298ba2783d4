// The contract of the Store port: the change feed, and which apps are watched.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { freshStage } from './store-stage.ts';
import type { OpenSubject } from './subject.ts';
import { callback, newApp, newSubscription } from './subject.ts';

export function feedContract(name: string, open: OpenSubject): void {
  describe(`the feed contract: ${name}`, () => {
    const stage = freshStage(open);

    const append = async (node: number, ...seqs: readonly number[]): Promise<void> => {
      const rows = seqs.map((seq) => ({ appNo: 1, seq, digest: `{"seq":${seq}}` }));
      await stage.store.edit('appendFeed', { node, rows });
    };
    const after = async (heads: Record<number, number>, limit = 10): Promise<string[]> => {
      const input = new Map(Object.entries(heads).map(([node, seq]) => [Number(node), seq]));
      const { rows } = await stage.store.read('feed', { appNo: 1, after: input, limit });
      return rows.map(({ node, seq }) => `${node}-${seq}`);
    };

    describe('feed', () => {
      it('returns only the newest number of each node if no position is given', async () => {
        await append(3, 1, 2);
        await append(7, 5);
        const found = await stage.store.read('feed', { appNo: 1, after: undefined, limit: 10 });
        const heads = new Map([
          [3, 2],
          [7, 5],
        ]);
        assert.deepEqual(found, { heads, rows: [] });
      });

      it('continues after the last number of each node, in order, and from the start of a new node', async () => {
        await append(3, 1, 2, 3);
        await append(7, 10);
        await append(9, 1, 2);
        assert.deepEqual(await after({ 3: 1, 7: 10 }), ['3-2', '3-3', '9-1', '9-2']);
        const { rows } = await stage.store.read('feed', {
          appNo: 1,
          after: new Map([[3, 2]]),
          limit: 1,
        });
        assert.deepEqual(rows[0], { node: 3, seq: 3, digest: '{"seq":3}' });
        assert.deepEqual(await after({}, 2), ['3-1', '3-2', '7-10', '9-1', '9-2']);
      });

      it('is separate for each app', async () => {
        await stage.store.edit('appendFeed', {
          node: 1,
          rows: [{ appNo: 2, seq: 1, digest: '{}' }],
        });
        const found = await stage.store.read('feed', { appNo: 1, after: new Map(), limit: 10 });
        assert.deepEqual(found, { heads: new Map(), rows: [] });
      });

      it('stores a repeated row once', async () => {
        await append(3, 1);
        await append(3, 1, 2);
        assert.deepEqual(await after({}), ['3-1', '3-2']);
      });
    });

    it('deletes old rows, a bounded number at a time', async () => {
      await append(3, 1, 2, 3);
      stage.clock.ms += 1;
      await append(4, 1);
      await stage.store.edit('watch', { node: 3, apps: [1, 2], untilMs: stage.clock.ms - 1 });
      await stage.store.edit('watch', { node: 4, apps: [1], untilMs: stage.clock.ms });
      const input = { beforeMs: stage.clock.ms, limit: 2 };
      assert.deepEqual(await stage.store.edit('forgetFeed', input), { deleted: 2 });
      assert.deepEqual(await stage.store.edit('forgetFeed', input), { deleted: 1 });
      assert.deepEqual(await stage.store.edit('forgetFeed', input), { deleted: 0 });
      assert.deepEqual(await after({}), ['4-1']);
      assert.deepEqual(await stage.store.read('watched', { nowMs: 0 }), [1]);
    });

    it('knows which apps are watched at any node, and until when', async () => {
      await stage.store.edit('watch', { node: 3, apps: [1, 2], untilMs: 1_000 });
      await stage.store.edit('watch', { node: 4, apps: [2], untilMs: 2_000 });
      await stage.store.edit('watch', { node: 3, apps: [1], untilMs: 1_500 });
      const watched = async (nowMs: number): Promise<number[]> =>
        [...(await stage.store.read('watched', { nowMs }))].sort((a, b) => a - b);
      assert.deepEqual(await watched(999), [1, 2]);
      assert.deepEqual(await watched(1_499), [1, 2]);
      assert.deepEqual(await watched(1_500), [2]);
      assert.deepEqual(await watched(2_000), []);
    });

    it('finds deliveries by id and counts pending ones, of one app only', async () => {
      const { app } = stage;
      const other = await newApp(stage.store);
      const published: string[] = [];
      for (const { no } of [app, app, other]) {
        const subscription = newSubscription({ ...app, no }, { callbacks: [callback(0, 'a')] });
        await stage.store.edit('subscribe', { subscription, idempotency: undefined });
        const id = stage.newId();
        published.push(id);
        await stage.store.edit('publish', {
          appNo: no,
          contract: subscription.contract,
          events: [{ id, name: 'a', payload: Buffer.from('{}') }],
          audience: { kind: 'subscription', id: subscription.id },
          idempotency: undefined,
        });
      }
      const names = [...published, stage.newId()].map((event) => ({ event, n: 0 }));
      const found = await stage.store.read('deliveriesNamed', { appNo: app.no, names });
      assert.deepEqual(
        found.map(({ event, state }) => [event, state]),
        published.slice(0, 2).map((event) => [event, 'due']),
      );
    });
  });
}
