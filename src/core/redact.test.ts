import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/fast-check.ts';
import { makeKey } from './key.ts';
import { plainUrl, redact } from './redact.ts';

const world = { randomBytes: (count: number) => new Uint8Array(count).fill(7) };
const { key } = makeKey(world);

describe('plainUrl', () => {
  it('leaves origin and path', () => {
    const url = 'https://user:pass@example.com:8443/a/b?token=x#ticket=y';
    assert.equal(plainUrl(url), 'https://example.com:8443/a/b');
    assert.equal(plainUrl('not a URL with a secret'), '***');
    assert.equal(plainUrl('mailto:somebody'), 'mailto:***');
  });
});

describe('redact', () => {
  it('leaves what is no secret', () => {
    const texts = [
      'Cannot deliver: connect ECONNREFUSED 127.0.0.1:8080',
      'at run (file:///srv/ringback/src/engine/deliver.ts:12:3)',
      '{"level":30,"requestId":"req_01jc4t6v8m3q5r7w9x1y2z3a4d","key":"rbk_0a1b2c3d","status":202}',
      '{"delivery":"dlv_01jc4t6v8m3q5r7w9x1y2z3a4d_0","url":"https://example.com/hook"}',
      '{"traceId":"0af7651916cd43dd8448eb211c80319c","did":"secret rotated","operation":"rotateSecret"}',
      'Unexpected token < in JSON at position 3',
    ];
    for (const text of texts) assert.equal(redact(text), text);
  });

  it('keeps of a key what names it', () => {
    assert.equal(redact(`key ${key}!`), `key ${key.slice(0, 12)}***!`);
  });

  /** Around the secret, as errors and headers have it. */
  const places: readonly ((secret: string) => string)[] = [
    (secret) => `https://user:${secret}@example.com/`,
    (secret) => `postgres://${secret}@db/ringback`,
    (secret) => `GET https://example.com/a?b=c&x=${secret} failed`,
    (secret) => `http://127.0.0.1:8080/console#ticket=${secret}`,
    (secret) => `/subscriptions?api_key=${secret}`,
    (secret) => `authorization: Bearer ${secret}`,
    (secret) => `Authorization: Basic ${secret}`,
    (secret) => `X-API-Key: ${secret}`,
    (secret) => `Cookie: a=b; session=${secret}; c=d`,
    (secret) => `set-cookie: X-API-KEY=${secret}; HttpOnly`,
    (secret) => `password=${secret} host=db`,
    (secret) => `{"token":"${secret}"}`,
    (secret) => `{ "api_key": "${secret}" }`,
    (secret) => `whsec_${secret}`,
    (secret) => `whsk_${secret}`,
    (secret) => `rbk_01234567${secret}`,
  ];
  const canaries = fc
    .array(fc.constantFrom('a', 'B', '3', 'x', 'Y', '9'), { minLength: 12, maxLength: 40 })
    .map((chars) => `CANARY${chars.join('')}`);
  const words = fc.stringMatching(/^[\w .,:/-]{0,20}$/);

  it('leaves no canary, in text, in JSON and in JSON inside JSON', () => {
    const cases = fc.tuple(canaries, fc.constantFrom(...places), words, words);
    const property = fc.property(cases, ([canary, place, before, after]) => {
      const text = `${before} ${place(canary)} ${after}`;
      const line = JSON.stringify({ level: 50, err: { message: text }, after });
      const nested = JSON.stringify({ reason: JSON.stringify({ message: text }) });
      for (const one of [text, line, nested]) {
        const safe = redact(one);
        assert.ok(!safe.includes(canary), safe);
      }
      assert.doesNotThrow(() => JSON.parse(redact(line)));
      assert.doesNotThrow(() => JSON.parse(redact(nested)));
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('leaves JSON what it was: JSON', () => {
    const property = fc.property(fc.json(), (json) => {
      assert.doesNotThrow(() => JSON.parse(redact(json)));
    });
    fc.assert(property);
  });

  it('hides a token that stands alone', () => {
    const token = Buffer.alloc(32, 7).toString('base64url');
    assert.equal(redact(`ticket ${token} is used`), 'ticket *** is used');
  });

  it('reads long lines once', () => {
    const long = `${'a'.repeat(50_000)}/ ${'cookie:'.repeat(5_000)} ${'x://'.repeat(5_000)}`;
    assert.ok(redact(long).length <= long.length);
  });
});
