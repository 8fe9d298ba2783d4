// Settings that hold a secret and are of no use: the complaint about one must not tell it.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { newFolder, runChild, type Env } from '../cli/ringback-process.ts';

describe('serve with a setting that is of no use', () => {
  it('says so, without the secret in it', async () => {
    const secret = `CANARY-${randomBytes(12).toString('hex')}`;
    const cases: readonly Env[] = [
      { DATABASE_URL: `postgres://user:${secret}@127.0.0.1:9/db` },
      { DATABASE_URL: `postgres://user:${secret}/#@[/db` },
      { RINGBACK_ENCRYPTION_KEY: secret },
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: `ftp://user:${secret}@127.0.0.1:9/?token=${secret}`,
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
      },
    ];
    await using folder = await newFolder();
    const usual = {
      RINGBACK_DATA: folder.path,
      RINGBACK_PORT: '0',
      RINGBACK_LOG: 'trace',
      RINGBACK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    };
    await Promise.all(
      cases.map(async (env) => {
        const { code, out, err } = await runChild(['serve'], { ...usual, ...env });
        assert.notEqual(code, 0);
        assert.match(err, new RegExp(Object.keys(env)[0] ?? ''));
        assert.ok(!(out + err).includes(secret), err);
      }),
    );
  });
});
