import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { makeKey } from '../domain/key.ts';
import { originOf, plainUrl, redact, withoutPaths } from './redact.ts';

const world = { randomBytes: (count: number) => new Uint8Array(count).fill(7) };
const { key } = makeKey(world);

describe('plainUrl', () => {
  it('keeps origin and path', () => {
    const url = 'https://user:pass@example.com:8443/a/b?token=x#ticket=y';
    assert.equal(plainUrl(url), 'https://example.com:8443/a/b');
    assert.equal(plainUrl('not a URL with a secret'), '***');
    assert.equal(plainUrl('mailto:ann@example.com'), 'mailto:***');
  });
});

describe('originOf', () => {
  it('keeps scheme, host and port', () => {
    assert.equal(originOf('https://user:pass@example.com:8443/a?b#c'), 'https://example.com:8443');
    assert.equal(originOf('no URL'), '***');
    assert.equal(originOf('mailto:ann@example.com'), '***');
  });
});

describe('withoutPaths', () => {
  const cases: [text: string, shown: string][] = [
    ['to "http://h:1/a/b": refused', 'to "http://h:1/***": refused'],
    ['HTTPS://h/a, then http://i/b', 'HTTPS://h/*** then http://i/***'],
    ['http://h and http://h/ stay', 'http://h and http://h/ stay'],
    ['at file:///srv/a.ts:1, postgres://db/x', 'at file:///srv/a.ts:1, postgres://db/x'],
  ];
  for (const [text, shown] of cases) {
    it(`makes ${shown}`, () => assert.equal(withoutPaths(text), shown));
  }

  it('keeps JSON valid, whatever is around and inside the URL', () => {
    for (const path of ['/a"b', '/a\\CANARY', "/a'CANARY", '/CANARY\n/x', '/é/CANARY']) {
      const line = JSON.stringify({ reason: `Cannot reach "http://h${path}": refused` });
      const shown = JSON.parse(withoutPaths(line)) as { reason: string };
      assert.match(shown.reason, /^Cannot reach "http:\/\/h\/\*\*\*/);
      assert.doesNotMatch(shown.reason, /CANARY/);
    }
  });
});

describe('redact', () => {
  it('keeps text that is not secret', () => {
    const texts = [
      'Cannot deliver: connect ECONNREFUSED 127.0.0.1:8080',
      'at run (file:///srv/ringback/src/engine/deliver/attempt.ts:12:3)',
      '{"level":30,"requestId":"req_01jc4t6v8m3q5r7w9x1y2z3a4d","key":"rbk_0a1b2c3d","status":202}',
      '{"delivery":"dlv_01jc4t6v8m3q5r7w9x1y2z3a4d_0","url":"https://example.com/hook"}',
      '{"traceId":"0af7651916cd43dd8448eb211c80319c","did":"secret rotated","operation":"rotateSecret"}',
      'Unexpected token < in JSON at position 3',
      'Cannot use RINGBACK_API_KEY: its checksum does not match',
      'at run (file:///srv/node_modules/@scope/pkg/index.js:12:3)',
      '{"level":30,"hasSecret":true,"token":null,"url":"http://127.0.0.1:8080/@me","msg":"a: 1, b"}',
      '{"event":"evt_01jc4t6v8m3q5r7w9x1y2z3a4d","subscription":"sub_01jc4t6v8m3q5r7w9x1y2z3a4d"}',
    ];
    for (const text of texts) assert.equal(redact(text), text);
  });

  it('keeps the id of a key', () => {
    assert.equal(redact(`key ${key}!`), `key ${key.slice(0, 12)}***!`);
  });

  /** The text around the secret, as in errors and headers. */
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
    (secret) => `RINGBACK_API_KEY=${secret}`,
    (secret) => `PGPASSWORD=a,b;c&d)e]f'g"h${secret}`,
    (secret) => `client_secret=${secret}&refresh_token=${secret}`,
    (secret) => `{"accessToken":"${secret}"}`,
    (secret) => `{"password":"correct horse \\"${secret}\\" battery"}`,
    (secret) => `{ password: 'correct horse ${secret}' }`,
    (secret) => JSON.stringify(JSON.stringify({ password: `correct "horse" ${secret}` })),
    (secret) => `Authorization: ApiKey ${secret}`,
    (secret) => `Authorization: Digest username="a", response="${secret}"`,
    (secret) => `["x-api-key","${secret}"]`,
    (secret) => `[ 'X-Api-Key', '${secret}' ]`,
    (secret) => `{ 'set-cookie': [ 'a=b', 'c=${secret}; Secure' ] }`,
    (secret) => `Map(1) { 'token' => '${secret}' }`,
    (secret) => `headers[x-api-key]=${secret}`,
    (secret) => `<password>${secret}</password>`,
    (secret) => `OTEL_EXPORTER_OTLP_HEADERS=x-one=${secret},x-two=${secret}`,
    (secret) => `postgres://user:a/b?c#${secret}@db/ringback`,
    (secret) => `postgres://user:it's${secret}@db/ringback`,
    (secret) => `http://a/,http://user:${secret}@b/`,
    (secret) => `eyJhbGciOiJIUzI1NiJ9.${secret}.${secret}`,
    (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}\n${secret}\n-----END PRIVATE KEY-----`,
    (secret) => `-----BEGIN EC PRIVATE KEY-----\\n${secret}`,
    (secret) => `${secret.padEnd(44, '+/')}==`,
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

  it('keeps JSON valid', () => {
    const property = fc.property(fc.json(), (json) => {
      assert.doesNotThrow(() => JSON.parse(redact(json)));
    });
    fc.assert(property);
  });

  it('hides any value under a secret name', () => {
    const cases: readonly (readonly [unknown, unknown])[] = [
      [{ token: 12 }, { token: '***' }],
      [{ a: { clientSecret: { value: ['x'] } } }, { a: { clientSecret: '***' } }],
      [
        ['x-api-key', 'abc', 'host', 'b'],
        ['x-api-key', '***', 'host', 'b'],
      ],
      [[{ name: 'X-Api-Key', value: 'abc' }], [{ name: 'X-Api-Key', value: '***' }]],
      [{ body: '{"password":"a b","id":1}' }, { body: '{"password":"***","id":1}' }],
      [{ whsec_abc: 1 }, { 'whsec_***': 1 }],
      [{ msg: `\n${'a'.repeat(50)}` }, { msg: '\n***' }],
    ];
    for (const [before, after] of cases) {
      assert.deepEqual(JSON.parse(redact(JSON.stringify(before))), after);
    }
    assert.equal(redact('{"token":"a"}\n'), '{"token":"***"}\n');
    assert.equal(redact('token=a\n'), 'token=***\n');
    assert.equal(redact('{"password":"correct horse"}'), '{"password":"***"}');
  });

  it('leaves no canary under a secret name, and keeps a line of JSON valid', () => {
    const names = [
      'token',
      'PGPASSWORD',
      'client_secret',
      'accessToken',
      'Set-Cookie',
      'x-api-key',
    ];
    const keys = fc.oneof(fc.constantFrom(...names, '__proto__', 'id'), fc.string());
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('://u:p@h', 'eyJ', '"\\'),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, texts, fc.double(), tie('list'), tie('object')),
      list: fc.array(tie('tree'), { maxLength: 4 }),
      object: fc.dictionary(keys, tie('tree'), { maxKeys: 4 }),
    }));
    const cases = fc.tuple(canaries, fc.constantFrom(...names), tree, texts);
    const property = fc.property(cases, ([canary, name, value, text]) => {
      const secret = { value, [name]: `${text} ${canary}`, pair: [name, text + canary] };
      for (const one of [
        value,
        secret,
        JSON.stringify(secret),
        `${text} ${JSON.stringify(value)}`,
      ]) {
        const safe = redact(JSON.stringify(one));
        assert.doesNotThrow(() => JSON.parse(safe), safe);
        assert.ok(!safe.includes(canary), safe);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('hides a token on its own', () => {
    const token = Buffer.alloc(32, 7).toString('base64url');
    assert.equal(redact(`ticket ${token} is used`), 'ticket *** is used');
  });

  it('stops at its depth limit', () => {
    const deep = `${'['.repeat(20_000)}"whsec_abc"${']'.repeat(20_000)}`;
    assert.ok(!redact(deep).includes('abc'));
    assert.ok(!redact(JSON.stringify({ deep })).includes('abc'));
  });

  describe('takes linear time', () => {
    const starts = [
      '://a',
      'x://',
      '://a@?',
      'cookie:',
      'token="',
      "token='\\",
      'token\\\\\\',
      '"token","',
      'password=[',
      'authorization ',
      'eyJa.',
      'eyJ',
      '-----BEGIN ',
      '-----BEGIN A-----',
      'bearer ',
      'rbk_0123456',
      'whsec_',
      'a',
      'a/',
      '=',
      ' ',
      '\\"',
      '[{"token":',
    ];
    const ordinary = cpuOf(repeated('a word, token=x, and 12. ', 40_000));
    for (const start of starts) {
      it(JSON.stringify(start), () => {
        // Quadratic behaviour would take sixteen times as long; nor may each match start scan far
        // ahead.
        const [short = '', long = ''] = [10_000, 40_000].map((chars) => repeated(start, chars));
        const took = cpuOf(long);
        assert.ok(took < 10 * cpuOf(short) + 4_000, `${took} µs`);
        assert.ok(took < 40 * ordinary + 4_000, `${took} µs, ordinary ${ordinary} µs`);
      });
    }
  });
});

function repeated(start: string, chars: number): string {
  return start.repeat(Math.ceil(chars / start.length));
}

/** CPU time of the fastest of some runs, in microseconds, with the text in a line of JSON. */
function cpuOf(text: string): number {
  const line = JSON.stringify({ text });
  const runs = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    redact(text);
    redact(line);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...runs);
}
