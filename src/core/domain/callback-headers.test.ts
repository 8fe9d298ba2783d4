import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import {
  decodeHeaders,
  encodeHeaders,
  headersOf,
  type KeptHeaders,
  readCallbackHeaders,
} from './callback-headers.ts';

function faultsOf(value: unknown): string[] {
  const reading = readCallbackHeaders(value, 'body#/headers');
  return reading.kind === 'headers'
    ? []
    : reading.faults.map((one) => `${one.field} ${one.message}`);
}

describe('readCallbackHeaders', () => {
  it('accepts headers as written, in their order', () => {
    const given = { Authorization: 'Bearer a b', 'x-tenant': '1', Accept: 'application/json' };
    assert.deepEqual(readCallbackHeaders(given, 'x'), {
      kind: 'headers',
      headers: Object.entries(given),
    });
  });

  it('refuses headers that belong to HTTP, Ringback, a proxy or a browser', () => {
    const denied =
      `host content-length transfer-encoding connection keep-alive te trailer upgrade expect
      proxy-authorization proxy-connection sec-fetch-site sec-anything cookie content-type content-encoding
      accept-encoding user-agent traceparent tracestate webhook-id webhook-signature webhook-x ringback-event
      ringback-x forwarded via x-forwarded-for x-forwarded-host x-forwarded x-real-ip x-http-method
      x-http-method-override x-method-override date range if-match if-none-match if-modified-since content-md5
      content-language http2-settings x-original-url x-rewrite-url`.split(/\s+/);
    // CGI, WSGI and PHP read an underscore as a hyphen; some servers read any punctuation as one.
    const twins = ['_', '.'].flatMap((mark) => denied.map((one) => one.replaceAll('-', mark)));
    const shouted = denied.map((one) => one.toUpperCase());
    for (const name of [...denied, ...twins, ...shouted, 'Webhook-Id', 'Webhook_Signature']) {
      const [fault = ''] = faultsOf({ [name]: 'x' });
      assert.match(fault, /is a header that Ringback sets itself|is reserved/, name);
      assert.ok(fault.startsWith(`body#/headers/${name} `), fault);
    }
  });

  it('refuses a repeated name, whatever its case', () => {
    assert.deepEqual(faultsOf({ 'X-A': '1', 'x-a': '2' }), [
      'body#/headers/x-a appears twice, expected each name once, regardless of case',
    ]);
    assert.match(faultsOf({ 'X-A': '1', x_a: '2' })[0] ?? '', /^body#\/headers\/x_a appears twice/);
  });

  it('refuses values that would start another header or another request', () => {
    const odd = [
      'a\r\nx: y',
      'a\nb',
      '\r',
      '\0',
      'é',
      '\u{2028}',
      '\u{1f600}',
      '\t',
      ' a',
      'a ',
      '\x7f',
    ];
    for (const value of odd) {
      assert.match(
        faultsOf({ 'x-a': value })[0] ?? '',
        /^body#\/headers\/x-a has a value that cannot/,
      );
    }
    for (const name of ['', 'a b', 'a:b', 'a\r\nb', 'é', '"', 'a\0', '(x)', 'x/y', 'a,b']) {
      assert.match(faultsOf({ [name]: 'x' })[0] ?? '', /is not a header name/);
    }
  });

  it('never repeats a value in a message', () => {
    for (const value of ['secret\n', 's'.repeat(1_025), 'secret ', ['secret'], { secret: 1 }]) {
      assert.doesNotMatch(faultsOf({ 'x-a': value }).join(), /s{3}|secret/);
    }
  });

  it('enforces its limits', () => {
    const many = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'v']));
    assert.deepEqual(faultsOf(many(20)), []);
    assert.deepEqual(faultsOf(many(21)), ['body#/headers has 21 headers, expected at most 20']);
    assert.deepEqual(faultsOf({ ['x'.repeat(128)]: 'v', y: 'v'.repeat(1_024) }), []);
    assert.match(
      faultsOf({ ['x'.repeat(129)]: 'v' })[0] ?? '',
      /a name of 129 characters, expected/,
    );
    assert.match(
      faultsOf({ y: 'v'.repeat(1_025) })[0] ?? '',
      /1025 characters, expected 1 to 1024$/,
    );
    assert.match(faultsOf({ y: '' })[0] ?? '', /a value of 0 characters/);
    const large = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, 'v'.repeat(1_024)]));
    assert.deepEqual(faultsOf(large), ['body#/headers has 4100 bytes, expected at most 4096']);
  });

  it('accepts any value and never throws', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        faultsOf(value);
        faultsOf({ 'x-a': value });
      }),
    );
  });
});

describe('encodeHeaders', () => {
  it('round-trips through decodeHeaders', () => {
    const one = { callback: 'e {$url} POST' };
    const headers: KeptHeaders = {
      own: [
        ['A', 'b'],
        ['c', '"'],
      ],
      declared: [
        { ...one, in: 'header', header: ['x-a', 'd'], expiresMs: undefined, origins: undefined },
        {
          ...one,
          in: 'header',
          header: ['authorization', 'f'],
          expiresMs: 5,
          origins: ['https://a'],
        },
        { ...one, in: 'query', header: ['key', 'g'], expiresMs: undefined, origins: [] },
      ],
    };
    assert.deepEqual(decodeHeaders(encodeHeaders(headers)), headers);
    assert.throws(() => decodeHeaders(Buffer.from('{}')), /expected a list/);
    assert.throws(() => decodeHeaders(Buffer.from('[["a"]]')), /Cannot decode a header/);
  });
});

describe('headersOf', () => {
  const one = { in: 'header', callback: 'one', expiresMs: undefined, origins: undefined } as const;
  const url = 'https://a.example:8443/hook?x=1';

  it('are those of the subscriber and of the callback, of which the subscriber has the last word', () => {
    const kept: KeptHeaders = {
      own: [['X-Own', 'a']],
      declared: [
        { ...one, header: ['x_own', 'b'] },
        { ...one, header: ['x-tenant', 'c'] },
        { ...one, header: ['authorization', 'd'], expiresMs: 5 },
        { ...one, callback: 'two', header: ['x-two', 'e'] },
      ],
    };
    assert.deepEqual(headersOf(kept, { definition: 'one', url }), {
      headers: [
        ['X-Own', 'a'],
        ['x-tenant', 'c'],
      ],
      expiring: [{ header: ['authorization', 'd'], expiresMs: 5 }],
      secretQuery: '',
    });
    const none = { headers: kept.own, expiring: [], secretQuery: '' };
    assert.deepEqual(headersOf(kept, { definition: 'three', url }), none);
  });

  it('have credentials only for the origins they were given for', () => {
    const origins = ['https://a.example:8443'];
    const kept: KeptHeaders = {
      own: [],
      declared: [
        { ...one, header: ['x-key', 'a'], origins },
        { ...one, in: 'query', header: ['k y', 'b&'], origins },
        { ...one, in: 'query', header: ['z', 'c'], origins },
      ],
    };
    const sent = headersOf(kept, { definition: 'one', url });
    assert.deepEqual([sent.headers, sent.secretQuery], [[['x-key', 'a']], 'k%20y=b%26&z=c']);
    for (const other of [
      'https://a.example/',
      'http://a.example:8443/',
      'https://b.example:8443/',
      '',
    ]) {
      const { headers, secretQuery } = headersOf(kept, { definition: 'one', url: other });
      assert.deepEqual([headers, secretQuery], [[], ''], other);
    }
  });
});
