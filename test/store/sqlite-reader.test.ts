// Lists must not block the reads of deliveries in the single reading thread.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { openEmbedded } from '../../src/store/open/open.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import { newId } from './open-memory.ts';

const none = { state: undefined, name: undefined, event: undefined, subscription: undefined };

describe('the reading thread', () => {
  it('answers reads of deliveries while a list is in progress', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ringback-'));
    const store = await openEmbedded({ dataDir, world: realWorld(), onFatal: fail });
    try {
      const app = await newApp(store);
      const subscription = newSubscription(app, { callbacks: [callback(0, 'a')] });
      await store.edit('subscribe', { subscription, idempotency: undefined });
      const events = Array.from({ length: limits.batchEventsMax }, () => ({
        id: newId(),
        name: 'a',
        payload: Buffer.from('1'),
      }));
      const audience = { kind: 'everyone' } as const;
      const rest = { contract: 'Ringback', audience, idempotency: undefined };
      await store.edit('publish', { appNo: app.no, events, ...rest });
      const answered: string[] = [];
      const filter = { ...none, name: 'a', state: 'delivered' } as const;
      const input = { appNo: app.no, page: { limit: 50, after: undefined }, filter };
      await Promise.all([
        ...[1, 2].map(async () => {
          const { items } = await store.read('deliveries', input);
          assert.deepEqual(items, []);
          answered.push('list');
        }),
        store.read('targets', { callbacks: [1] }).then((targets) => {
          assert.equal(targets.length, 1);
          answered.push('targets');
        }),
      ]);
      assert.deepEqual(answered, ['targets', 'list', 'list']);
    } finally {
      await store.close();
      await rm(dataDir, { recursive: true });
    }
  });

  it('answers a read of one app before a backlog of another', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ringback-'));
    const store = await openEmbedded({ dataDir, world: realWorld(), onFatal: fail });
    try {
      const [busy, other] = [await newApp(store), await newApp(store)];
      const answered: string[] = [];
      const ask = async (name: string, { no }: { no: number }): Promise<void> => {
        const input = { appNo: no, page: { limit: 50, after: undefined }, filter: none };
        await store.read('deliveries', input);
        answered.push(name);
      };
      const backlog = Array.from({ length: 200 }, async () => ask('busy', busy));
      await Promise.all([...backlog, ask('other', other)]);
      assert.ok(answered.indexOf('other') < 200, 'it was the last');
    } finally {
      await store.close();
      await rm(dataDir, { recursive: true });
    }
  });

  it('answers pending lists before it closes', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ringback-'));
    const store = await openEmbedded({ dataDir, world: realWorld(), onFatal: fail });
    const page = { limit: 5, after: undefined };
    const app = await newApp(store);
    const asked = [1, 2, 3].map(async () => store.read('keys', { appNo: app.no, page }));
    await store.close();
    assert.deepEqual(
      (await Promise.all(asked)).map(({ items }) => items.length),
      [1, 1, 1],
    );
    await rm(dataDir, { recursive: true });
  });
});

function fail(error: Error): void {
  throw error;
}
