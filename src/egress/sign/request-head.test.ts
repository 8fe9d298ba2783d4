import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { version } from '../../core/base/package.ts';
import type { CallbackFacts } from './request-head.ts';
import { callbackHeaders } from './request-head.ts';

const facts: CallbackFacts = {
  mediaType: 'application/json',
  eventId: 'evt_1',
  eventName: 'order.created',
  delivery: 'dlv_1_0',
  subscription: 'sub_1',
  attempt: 3,
  hops: 2,
  timestampS: 1_800_000_000,
  signature: 'v1,abc v1,def',
};

function pairsOf(headers: readonly string[]): Record<string, string | undefined> {
  const names = headers.filter((_, at) => at % 2 === 0);
  return Object.fromEntries(names.map((name, i) => [name, headers[2 * i + 1]]));
}

describe('callbackHeaders', () => {
  it('states the event, the sender and the signature', () => {
    assert.deepEqual(pairsOf(callbackHeaders(facts)), {
      'content-type': 'application/json',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1800000000',
      'webhook-signature': 'v1,abc v1,def',
      'ringback-event': 'order.created',
      'ringback-delivery': 'dlv_1_0',
      'ringback-subscription': 'sub_1',
      'ringback-attempt': '3',
      'ringback-hops': '2',
      'user-agent': `Ringback/${version}`,
      'accept-encoding': 'identity',
      accept: '*/*',
    });
  });

  it('has no content-type without a payload', () => {
    const headers = callbackHeaders({ ...facts, mediaType: undefined });
    assert.equal(pairsOf(headers)['content-type'], undefined);
    assert.equal(headers.length, 22);
  });

  it('adds headers of the trace and of the subscription, which may override accept', () => {
    const trace = [['traceparent', '00-1-2-01']] as const;
    const added = [
      ['X-Tenant', 'a'],
      ['Accept', 'text/plain'],
    ] as const;
    const plain = callbackHeaders(facts);
    const headers = callbackHeaders({ ...facts, trace, added });
    const { accept, ...rest } = pairsOf(plain);
    assert.equal(accept, '*/*');
    const more = { traceparent: '00-1-2-01', 'X-Tenant': 'a', Accept: 'text/plain' };
    assert.deepEqual(pairsOf(headers), { ...rest, ...more });
    const broken = { ...facts, added: [['X-Tenant', 'a\r\nb']] as const };
    assert.throws(() => callbackHeaders(broken), /X-Tenant/);
  });

  it('percent-encodes the name of the event', () => {
    const headers = pairsOf(callbackHeaders({ ...facts, eventName: 'é\r\nx: 50%' }));
    assert.equal(headers['ringback-event'], '%C3%A9%0D%0Ax%3A%2050%25');
  });

  it('refuses a value that could start another header', () => {
    for (const trace of ['a\r\nx: y', 'a\nb', 'a\rb', 'a\0b', 'é', '\u{10a}', '']) {
      const broken = { ...facts, trace: [['traceparent', trace]] as const };
      assert.throws(() => callbackHeaders(broken), /traceparent/);
    }
    assert.throws(() => callbackHeaders({ ...facts, mediaType: 'a/b\n' }), /content-type/);
  });
});
