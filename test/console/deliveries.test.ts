// Filters of the deliveries list, and failure texts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureOf, failureSentence } from '../../console/src/deliveries/failure-text.ts';
import { filterOf, matches, type DeliveryFilter } from '../../console/src/deliveries/filter.ts';
import { fromField, toField } from '../../console/src/local-time.ts';
import { mediaTypeOf } from '../../console/src/deliveries/media-type.ts';
import { readResult } from '../../console/src/deliveries/result-filter.ts';
import { mergeDeliveries } from '../../console/src/live-deliveries.ts';
import type {
  Delivery,
  GetDeliveryAnswer as DeliveryWithAttempts,
} from '../../src/client/contract/delivery.ts';

const delivery: Delivery = {
  id: 'dlv_1_0',
  state: 'due',
  event: 'order.item.added',
  subject: 'job_1',
  customer: 'cus_1',
  eventId: 'evt_1',
  subscriberId: 'sub_1',
  callback: { position: 0, label: 'myEvent', method: 'POST', url: 'https://a.example/' },
  attemptCount: 1,
  status: 503,
  error: 'status',
  createdAt: '2026-11-02T10:00:00.000Z',
};

describe('matches', () => {
  const fitting: readonly DeliveryFilter[] = [
    {},
    { state: 'pending' },
    { state: 'retrying' },
    { state: 'due' },
    { event: '*' },
    { event: 'order.*' },
    { event: 'order.item.*' },
    { event: 'order.item.added' },
    { eventId: 'evt_1', subscriberId: 'sub_1' },
    { subject: 'job_1', customer: 'cus_1' },
    { status: '5xx' },
    { status: '503' },
    { error: 'status' },
    { from: '2026-11-02T10:00:00Z', until: '2026-11-02T10:00:01Z' },
  ];
  const other: readonly DeliveryFilter[] = [
    { state: 'dead' },
    { state: 'delivered' },
    { event: 'order' },
    { event: 'ord.*' },
    { event: 'order.item.added.*' },
    { eventId: 'evt_2' },
    { subscriberId: 'sub_2' },
    { subject: 'job_2', customer: 'cus_1' },
    { subject: 'job_1', customer: 'cus_2' },
    { status: '4xx' },
    { status: '500' },
    { error: 'timeout' },
    { error: 'exhausted' },
    { from: '2026-11-02T10:00:01Z' },
    { until: '2026-11-02T10:00:00Z' },
  ];
  it('accepts deliveries that match every part', () => {
    for (const filter of fitting) assert.ok(matches(delivery, filter), JSON.stringify(filter));
  });
  it('rejects deliveries that miss one part', () => {
    for (const filter of other) assert.ok(!matches(delivery, filter), JSON.stringify(filter));
  });
  it('does not count a first attempt as a retry, and treats an exhausted schedule as an error', () => {
    assert.ok(!matches({ ...delivery, attemptCount: 0 }, { state: 'retrying' }));
    assert.ok(matches({ ...delivery, state: 'dead' }, { error: 'exhausted' }));
    assert.ok(!matches({ ...delivery, state: 'dead', error: 'expired' }, { error: 'exhausted' }));
  });
});

describe('filterOf', () => {
  it('reads its own parameters only, and no empty ones', () => {
    const query = new URLSearchParams('state=dead&event=&delivery=dlv_1&range=7d&status=4xx');
    assert.deepEqual(filterOf(query), { state: 'dead', status: '4xx' });
  });
});

describe('readResult', () => {
  it('reads codes, classes and errors', () => {
    const typed = ['', ' 404 ', '5XX', 'HTTP 503', 'Timeout', 'too_large'];
    assert.deepEqual(typed.map(readResult), [
      {},
      { status: '404' },
      { status: '5xx' },
      { status: '503' },
      { error: 'timeout' },
      { error: 'too_large' },
    ]);
  });
  it('refuses anything else', () => {
    for (const text of ['600', '1xx', 'xx', '40', 'nonsense']) {
      assert.equal(readResult(text), undefined);
    }
  });
});

describe('toField', () => {
  it('and fromField are inverse functions', () => {
    assert.equal(fromField(toField('2026-11-02T10:30:00.000Z')), '2026-11-02T10:30:00.000Z');
    assert.equal(toField('nonsense'), '');
    assert.equal(toField(undefined), '');
    assert.equal(fromField(''), undefined);
  });
});

describe('mergeDeliveries', () => {
  it('orders deliveries of one event like the service: by number, the last first', () => {
    const ids = ['dlv_1_2', 'dlv_1_10', 'dlv_1_1'];
    const merged = mergeDeliveries(
      [],
      ids.map((id) => ({ ...delivery, id })),
      { max: 9 },
    );
    assert.deepEqual(
      merged.map(({ id }) => id),
      ['dlv_1_10', 'dlv_1_2', 'dlv_1_1'],
    );
  });
});

describe('mediaTypeOf', () => {
  const type = {
    event: '*',
    callback: 'myEvent',
    contract: 'Mine',
    source: 'callback',
    state: 'active',
  } as const;
  const subscription = {
    id: 'sub_1',
    state: 'active',
    contract: 'Mine',
    operation: 'subscribe',
    callbacks: [],
    ordered: false,
    createdAt: '',
  } as const;
  it('is what the contract declares, or undefined if it declares no body', () => {
    const xml = { ...type, mediaType: 'application/xml' };
    assert.equal(mediaTypeOf(delivery, { subscription, types: [xml] }), 'application/xml');
    assert.equal(mediaTypeOf(delivery, { subscription, types: [type] }), undefined);
  });
  it('is JSON if the callback is unknown', () => {
    const other = { ...type, contract: 'Another' };
    assert.equal(mediaTypeOf(delivery, { subscription, types: [other] }), 'application/json');
    assert.equal(mediaTypeOf(delivery, { subscription: undefined, types: [] }), 'application/json');
  });
});

describe('failureOf', () => {
  const request = { method: 'POST', url: 'https://a.example/', headers: {} };
  const attempt = { id: 'att_1_0_1', startedAt: '', tookMs: 1, request };
  const failed: DeliveryWithAttempts = { ...delivery, error: 'refused', attempts: [] };
  it('prefers the message of the attempt, which names the host', () => {
    const own = {
      ...attempt,
      error: 'refused',
      message: 'a.example refused the connection',
    } as const;
    assert.equal(
      failureOf({ ...failed, attempts: [own] })?.happened,
      'a.example refused the connection.',
    );
    assert.match(failureSentence({ error: 'status', status: 404 }), /nothing at this path\.$/);
  });
  it('does not promise another attempt of a dead delivery', () => {
    const dead = { ...failed, state: 'dead', error: 'status', status: 500 } as const;
    assert.match(failureOf(failed)?.operator ?? '', /port/);
    assert.match(failureOf(dead)?.operator ?? '', /^Once the receiver works again/);
    const refused = { ...dead, error: 'refused' } as const;
    assert.match(
      failureOf(refused)?.operator ?? '',
      /^Check the port.* Once the receiver works again/,
    );
    assert.match(failureOf({ ...dead, error: 'expired' })?.operator ?? '', /paused/);
  });
  it('explains the cause of a cancellation', () => {
    const cancelled = { ...failed, state: 'cancelled', error: undefined } as const;
    const { error: _error, ...rest } = cancelled;
    assert.match(failureOf({ ...rest, attempts: [] })?.title ?? '', /Subscription ended/);
    const gone = { ...attempt, status: 410 };
    assert.match(failureOf({ ...rest, attempts: [gone] })?.title ?? '', /Receiver unsubscribed/);
  });
  it('is undefined if nothing failed', () => {
    assert.equal(failureOf({ ...failed, state: 'delivered' }), undefined);
    const { error: _error, ...fresh } = failed;
    assert.equal(failureOf(fresh), undefined);
  });
});
