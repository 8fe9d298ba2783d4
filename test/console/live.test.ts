// What frames of the stream do to the displayed data.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { joinItems } from '../../console/src/join-items.ts';
import { isInLoadedRange, mergeDeliveries } from '../../console/src/live-deliveries.ts';
import { endMs, hasActivity, withFrame } from '../../console/src/live-stats.ts';
import type { Delivery } from '../../src/client/contract/delivery.ts';
import type { Frame } from '../../console/src/frame.ts';
import type { GetStatsAnswer as Stats } from '../../src/client/contract/service.ts';

const none = { published: 0, delivered: 0, retried: 0, dead: 0, cancelled: 0 };
const times = { p50Ms: null, p95Ms: null };

function frame(counts: Partial<typeof none>, pending: number): Frame {
  const rest = { deliveries: [], more: 0, subscriptions: [], replays: [], isReset: false };
  return { at: '2026-11-02T10:00:30Z', counts: { ...none, ...counts }, pending, ...rest };
}

const stats: Stats = {
  from: '2026-11-02T09:59:00Z',
  until: '2026-11-02T10:00:30Z',
  stepSeconds: 60,
  steps: [
    { at: '2026-11-02T09:59:00Z', ...none, ...times, delivered: 2 },
    { at: '2026-11-02T10:00:00Z', ...none, ...times },
  ],
  totals: { ...none, ...times, delivered: 2, successRate: 1 },
  pending: 1,
  pendingIsCapped: false,
  oldestPendingAt: '2026-11-02T09:59:30Z',
  attention: [],
};

function delivery(id: string, second: number, state: Delivery['state'] = 'due'): Delivery {
  const callback = { position: 0, label: 'x', method: 'POST', url: 'https://a.example/' };
  const createdAt = new Date(Date.UTC(2026, 10, 2, 10, 0, second)).toISOString();
  const rest = { event: 'a', eventId: 'evt_1', subscriberId: 'sub_1', attemptCount: 0 };
  return { id, state, callback, createdAt, ...rest };
}

describe('withFrame', () => {
  it('adds to the current step and to the totals', () => {
    const now = withFrame(stats, frame({ delivered: 1, dead: 1 }, 0));
    assert.deepEqual(
      now.steps.map((step) => [step.delivered, step.dead]),
      [
        [2, 0],
        [1, 1],
      ],
    );
    assert.equal(now.totals.successRate, 0.75);
    assert.equal(now.pending, 0);
    assert.equal(now.oldestPendingAt, null);
  });
  it('knows the end of the current step, and which frames contain activity', () => {
    assert.equal(endMs(stats), Date.parse('2026-11-02T10:01:00Z'));
    assert.equal(hasActivity(frame({}, 5)), false);
    assert.equal(hasActivity(frame({ published: 1 }, 5)), true);
  });
});

describe('mergeDeliveries', () => {
  it('replaces changed deliveries, adds new ones on top, and limits the length', () => {
    const shown = [delivery('b', 2), delivery('a', 1)];
    const changed = [delivery('a', 1, 'delivered'), delivery('c', 3)];
    const merged = mergeDeliveries(shown, changed, { max: 3 });
    assert.deepEqual(
      merged.map(({ id, state }) => [id, state]),
      [
        ['c', 'due'],
        ['b', 'due'],
        ['a', 'delivered'],
      ],
    );
    assert.equal(mergeDeliveries(shown, changed, { max: 2 }).length, 2);
  });
});

describe('isInLoadedRange', () => {
  const items = [delivery('dlv_1_10', 5), delivery('dlv_1_9', 5)];
  it('can end within an event that has more deliveries than a page', () => {
    assert.equal(isInLoadedRange(delivery('dlv_1_8', 5), { items, hasMore: true }), false);
    assert.equal(isInLoadedRange(delivery('dlv_1_11', 5), { items, hasMore: true }), true);
    assert.equal(isInLoadedRange(delivery('dlv_2_0', 6), { items, hasMore: true }), true);
  });
  it('is unlimited if everything was loaded', () => {
    assert.equal(isInLoadedRange(delivery('dlv_1_8', 5), { items, hasMore: false }), true);
    assert.equal(isInLoadedRange(delivery('dlv_1_8', 5), { items: [], hasMore: true }), true);
  });
});

describe('joinItems', () => {
  it('does not duplicate deliveries that the stream has already added', () => {
    const shown = [delivery('b', 2), delivery('a', 1, 'delivered')];
    const joined = joinItems(shown, [delivery('a', 1, 'due'), delivery('c', 0)]);
    assert.deepEqual(
      joined.map(({ id, state }) => [id, state]),
      [
        ['b', 'due'],
        ['a', 'delivered'],
        ['c', 'due'],
      ],
    );
  });
});
