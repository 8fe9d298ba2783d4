import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start } from './api/harness.ts';
import { assertNoSecret, keepSecret, keepSettings, learnFrom } from './canary.ts';

describe('assertNoSecret', () => {
  it('finds a key, a signing secret, a cookie and a ticket that a test has used', () => {
    const key = `rbk_01234567${'K'.repeat(40)}`;
    const headers = new Headers();
    headers.append('set-cookie', `session=${'C'.repeat(43)}; HttpOnly`);
    const json = { secret: `whsec_${'S'.repeat(44)}`, ticket: 'T'.repeat(43) };
    learnFrom({ key, headers: { cookie: `X-API-KEY=${'Q'.repeat(40)}` } }, { headers, json });
    for (const [letter, count] of [
      ['K', 40],
      ['C', 43],
      ['S', 44],
      ['T', 43],
      ['Q', 40],
    ] as const) {
      assert.throws(() => assertNoSecret('a log', `x ${letter.repeat(count)} y`), /in a log/);
    }
    assert.doesNotThrow(() => assertNoSecret('a log', key.slice(0, 12)));
  });

  it('finds secrets of settings: the password of a database, the tokens of a collector', () => {
    const [password, token, other] = ['P', 'A', 'O'].map((letter) => letter.repeat(24));
    keepSettings({
      DATABASE_URL: `postgres://ringback:${password}@db/ringback`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${token},x-other=${other}`,
    });
    for (const secret of [password, token, other]) {
      assert.throws(() => assertNoSecret('a log', `x ${secret} y`), /in a log/);
    }
  });

  it('fails a test whose service has logged a secret', async () => {
    const secret = 'told-in-a-request-id-'.padEnd(40, 'x');
    keepSecret(secret);
    const service = await start();
    await service.call({ path: '/healthz', headers: { 'x-request-id': secret } });
    await assert.rejects(async () => service[Symbol.asyncDispose](), /A secret appears in the log/);
  });
});
