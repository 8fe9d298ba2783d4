// A response that is older than changes from the stream must not undo them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replaceDeliveries } from '../../console/src/live-deliveries.ts';
import type { Delivery } from '../../src/client/contract/delivery.ts';
import { trackChanges } from '../../console/src/changes-during-read.ts';

function delivery(id: string, state: Delivery['state']): Delivery {
  const callback = { position: 0, label: 'x', method: 'POST', url: 'https://a.example/' };
  const rest = { event: 'a', eventId: 'evt_1', subscriberId: 'sub_1', attemptCount: 0 };
  return { id, state, callback, createdAt: '2026-11-02T10:00:00.000Z', ...rest };
}

describe('trackChanges', () => {
  const answer = [delivery('a', 'due'), delivery('b', 'due')];
  const states = (items: readonly Delivery[]): string[] => items.map(({ state }) => state);

  it('merges the latest changes since the request began', async () => {
    const tracker = trackChanges();
    const { promise, resolve } = Promise.withResolvers<readonly Delivery[]>();
    tracker.record([delivery('b', 'dead')]);
    const reading = tracker.read(() => promise, replaceDeliveries);
    tracker.record([delivery('a', 'running')]);
    tracker.record([delivery('a', 'delivered'), delivery('c', 'due')]);
    resolve(answer);
    assert.deepEqual(states(await reading), ['delivered', 'due']);
  });
  it('forgets changes after each request, also a failed one', async () => {
    const tracker = trackChanges();
    const failed = tracker.read(() => Promise.reject(new Error('no')), replaceDeliveries);
    tracker.record([delivery('a', 'dead')]);
    await assert.rejects(failed, /no/);
    const read = await tracker.read(() => Promise.resolve(answer), replaceDeliveries);
    assert.deepEqual(states(read), ['due', 'due']);
  });
  it('tracks overlapping requests separately', async () => {
    const tracker = trackChanges();
    const { promise, resolve } = Promise.withResolvers<readonly Delivery[]>();
    const first = tracker.read(() => promise, replaceDeliveries);
    tracker.record([delivery('a', 'dead')]);
    const second = tracker.read(() => promise, replaceDeliveries);
    tracker.record([delivery('b', 'dead')]);
    resolve(answer);
    assert.deepEqual(states(await first), ['dead', 'dead']);
    assert.deepEqual(states(await second), ['due', 'dead']);
  });
});
