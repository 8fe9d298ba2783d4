// Nodes write into separate slices that overlap in time, but lists must be in order.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { firstIdAt, timeOf } from '../../src/core/base/id.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { openCluster } from '../../src/store/open/open.ts';
import type { Store } from '../../src/store/port/store.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import { newId } from './open-memory.ts';

const minuteMs = 60_000;
const none = { state: undefined, name: undefined, event: undefined, subscription: undefined };

describe('lists of a cluster', () => {
  it('are newest first over all nodes, and complete for a time range', async () => {
    await using database = await freshStoreDatabase();
    const clock = { ms: realWorld().nowMs() };
    const world = { ...realWorld(), nowMs: () => clock.ms };
    const open = async () => openCluster({ url: database.url, world, clock: 'given' });
    const [one, other] = [await open(), await open()];
    const app = await newApp(one);
    const subscription = newSubscription(app, { callbacks: [callback(0, 'a')] });
    await one.edit('subscribe', { subscription, idempotency: undefined });
    const publish = async (store: Store, ms: number): Promise<string> => {
      const id = firstIdAt(ms).slice(0, 10) + newId().slice(10);
      const events = [{ id, name: 'a', payload: Buffer.from('1') }];
      const audience = { kind: 'everyone' } as const;
      const rest = { contract: 'Ringback', audience, idempotency: undefined };
      await store.edit('publish', { appNo: app.no, events, ...rest });
      return id;
    };
    const ids: string[] = [];
    for (let i = 0; i < 40; i += 1) {
      clock.ms += minuteMs;
      ids.push(await publish(i % 3 === 0 ? one : other, clock.ms));
      // As if published by SQL an hour ago and taken from the inbox now.
      if (i % 10 === 9) ids.push(await publish(one, clock.ms - 60 * minuteMs));
    }
    ids.sort().reverse();
    const [row] = await database.query('select count(distinct slice)::int from ringback.event');
    assert(Number(row?.['count']) >= 6, 'expected several slices');
    for (const filter of [
      {},
      { name: 'a' },
      { state: 'due' },
      { subscription: subscription.id },
    ] as const) {
      for (const span of [{}, { fromMs: timeOf(ids[30] ?? ''), untilMs: timeOf(ids[5] ?? '') }]) {
        const { items } = await other.read('deliveries', {
          appNo: app.no,
          page: { limit: 500, after: undefined },
          filter: { ...none, ...filter, ...span },
        });
        const { fromMs = 0, untilMs = Infinity } = span;
        const expected = ids.filter((id) => timeOf(id) >= fromMs && timeOf(id) < untilMs);
        assert.deepEqual(
          items.map(({ event }) => event),
          expected,
        );
      }
    }
    await Promise.all([one.close(), other.close()]);
  });
});
