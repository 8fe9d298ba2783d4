import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Delivery, ListDeliveriesQuery } from '../../client/client.ts';
import { fits } from './deliveries.ts';

const delivery: Delivery = {
  id: 'dlv_1_0',
  state: 'dead',
  event: 'order.created',
  subject: 'job_17',
  eventId: 'evt_1',
  subscriberId: 'sub_1',
  callback: { position: 0, label: 'myEvent', method: 'POST', url: 'http://x' },
  attemptCount: 2,
  status: 503,
  error: 'status',
  createdAt: '2026-03-01T12:00:00.000Z',
};

describe('fits', () => {
  it('filters exactly like the list', () => {
    const cases: [ListDeliveriesQuery, boolean][] = [
      [{}, true],
      [{ state: 'dead', event: 'order.*', eventId: 'evt_1', subscriberId: 'sub_1' }, true],
      [{ state: 'pending' }, false],
      [{ event: 'order' }, false],
      [{ event: '*' }, true],
      [{ eventId: 'evt_2' }, false],
      [{ subscriberId: 'sub_2' }, false],
      [{ subject: 'job_17' }, true],
      [{ subject: 'job_1' }, false],
      [{ status: '5xx' }, true],
      [{ status: '503' }, true],
      [{ status: '500' }, false],
      [{ error: 'status' }, true],
      [{ error: 'exhausted' }, true],
      [{ error: 'expired' }, false],
      [{ from: '2026-03-01T12:00:00Z', until: '2026-03-01T12:00:01Z' }, true],
      [{ from: '2026-03-01T12:00:01Z' }, false],
      [{ until: '2026-03-01T12:00:00Z' }, false],
    ];
    for (const [filters, expected] of cases) {
      assert.equal(fits(delivery, filters), expected, JSON.stringify(filters));
    }
    const due: Delivery = { ...delivery, state: 'due' };
    assert.ok(fits(due, { state: 'pending' }) && fits(due, { state: 'retrying' }));
    assert.ok(!fits({ ...due, attemptCount: 0 }, { state: 'retrying' }));
  });
});
