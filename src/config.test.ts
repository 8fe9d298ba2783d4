import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { readConfig, type Config, type Environment } from './config.ts';

function config(env: Environment): Config {
  const reading = readConfig(env);
  assert.equal(reading.kind, 'config', inspect(reading));
  return reading.config;
}

function mistakes(env: Environment): readonly string[] {
  const reading = readConfig(env);
  assert.equal(reading.kind, 'mistakes', JSON.stringify(env));
  return reading.mistakes;
}

const folder = mkdtempSync(join(tmpdir(), 'ringback-config-'));
after(() => rmSync(folder, { recursive: true }));

describe('readConfig', () => {
  it('has a default for all that is needed', () => {
    const { host, port, database, role, nodeName, trustProxy, requireAppId, log, apiKey } = config(
      {},
    );
    assert.deepEqual(
      { host, port, database, role, nodeName, trustProxy, requireAppId, log, apiKey },
      {
        host: '127.0.0.1',
        port: 8080,
        database: { dataDir: './data' },
        role: 'all',
        nodeName: hostname(),
        trustProxy: false,
        requireAppId: false,
        log: 'info',
        apiKey: undefined,
      },
    );
  });

  it('takes an empty variable for an absent one', () => {
    assert.equal(config({ RINGBACK_PORT: '', RINGBACK_API_KEY: '' }).port, 8080);
  });

  it('refuses settings of the gateway without an upstream', () => {
    assert.deepEqual(mistakes({ RINGBACK_UPSTREAM_WHEN_DOWN: 'pass' }), [
      'Cannot use RINGBACK_UPSTREAM_WHEN_DOWN: it applies to RINGBACK_UPSTREAM, which is not set',
    ]);
  });

  it('lets an API answer operations with an upstream, or by choice', () => {
    const upstream = { RINGBACK_UPSTREAM: 'http://127.0.0.1:3000' };
    const chosen = (env: Environment): string[] => {
      const { operations, managePrefix } = config(env);
      return [operations, managePrefix];
    };
    assert.deepEqual(chosen({}), ['answer', '']);
    assert.deepEqual(chosen({ RINGBACK_OPERATIONS: 'register' }), ['register', '']);
    assert.deepEqual(chosen(upstream), ['register', '/ringback']);
    assert.deepEqual(chosen({ ...upstream, RINGBACK_OPERATIONS: 'answer' }), [
      'answer',
      '/ringback',
    ]);
    assert.deepEqual(mistakes({ RINGBACK_OPERATIONS: 'both' }), [
      'Cannot read RINGBACK_OPERATIONS "both": expected answer or register',
    ]);
  });

  it('knows the modes of the gateway', () => {
    const { upstreamAuth, upstreamApp, upstreamValidate, upstreamWhenDown } = config({});
    assert.deepEqual(
      [upstreamAuth, upstreamApp, upstreamValidate, upstreamWhenDown],
      ['passthrough', undefined, 'warn', 'refuse'],
    );
    assert.deepEqual(
      mistakes({
        RINGBACK_UPSTREAM: 'http://127.0.0.1:3000',
        RINGBACK_UPSTREAM_AUTH: 'none',
        RINGBACK_UPSTREAM_APP: 'default',
        RINGBACK_UPSTREAM_VALIDATE: 'on',
        RINGBACK_UPSTREAM_WHEN_DOWN: 'wait',
      }),
      [
        'Cannot read RINGBACK_UPSTREAM_AUTH "none": expected passthrough or keys',
        'Cannot read RINGBACK_UPSTREAM_APP "default": expected the id of an app, which starts with app_',
        'Cannot read RINGBACK_UPSTREAM_VALIDATE "on": expected off, warn or enforce',
        'Cannot read RINGBACK_UPSTREAM_WHEN_DOWN "wait": expected refuse or pass',
      ],
    );
  });

  it('reports all mistakes at once, and what was expected', () => {
    assert.deepEqual(
      mistakes({
        RINGBACK_PORT: '99999',
        RINGBACK_TRUST_PROXY: 'maybe',
        RINGBACK_LOG: 'loud',
        RINGBACK_PUBLIC_URL: 'ringback.example',
        RINGBACK_ALLOW_TARGETS: '10.0.0.0/40',
        RINGBACK_TLS_CERT: 'cert.pem',
        RINGBACK_ROLE: 'worker',
        RINGBACK_STORE_TIMEOUT: '2m',
        RINGBACK_NODE_NAME: 'node one',
      }),
      [
        'Cannot read RINGBACK_PORT "99999": expected a port from 0 to 65535',
        'Cannot read RINGBACK_PUBLIC_URL "ringback.example": expected an http or https URL without query or fragment',
        'Cannot read RINGBACK_TRUST_PROXY "maybe": expected on or off',
        'Cannot read RINGBACK_STORE_TIMEOUT "2m": expected a duration from 1s to 60s',
        'Cannot read RINGBACK_LOG "loud": expected one of fatal, error, warn, info, debug, trace, silent',
        'Cannot read RINGBACK_ALLOW_TARGETS "10.0.0.0/40": entry "10.0.0.0/40": prefix is 40, expected 0 to 32',
        'Cannot read RINGBACK_NODE_NAME "node one": expected at most 128 visible ASCII characters, without spaces',
        'Cannot use RINGBACK_ROLE "worker" with SQLite: a single process must do everything. Expected all, or DATABASE_URL',
        'Cannot serve HTTPS: RINGBACK_TLS_CERT and RINGBACK_TLS_KEY must be set together',
      ],
    );
  });

  it('keeps history for 30 days, or as long as the setting says, which is at least an hour', () => {
    const dayMs = 86_400_000;
    assert.equal(config({}).retention, 30 * dayMs);
    assert.equal(config({ RINGBACK_RETENTION: '400d' }).retention, 400 * dayMs);
    assert.equal(config({ RINGBACK_RETENTION: '1h' }).retention, 3_600_000);
    for (const text of ['59m', '0d', '30', 'ever']) {
      assert.match(
        mistakes({ RINGBACK_RETENTION: text })[0] ?? '',
        /RINGBACK_RETENTION .*expected/,
      );
    }
  });

  it('never shows a secret in a mistake', () => {
    const [text = ''] = mistakes({ RINGBACK_API_KEY: 'CANARY' });
    assert.match(text, /RINGBACK_API_KEY: expected 32 visible ASCII characters/);
    assert.doesNotMatch(text, /CANARY/);
    const [more = ''] = mistakes({ RINGBACK_ENCRYPTION_KEY: 'CANARY' });
    assert.doesNotMatch(more, /CANARY/);
  });

  it('makes a node of a cluster of a database URL, and shows nothing of it', () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const cluster = { RINGBACK_ENCRYPTION_KEY: key, RINGBACK_ROLE: 'worker' };
    for (const url of ['postgres://u:p@h/db', 'postgresql:///db?host=/run']) {
      const { database, role } = config({ ...cluster, DATABASE_URL: url });
      assert.deepEqual([database, role], [{ url }, 'worker']);
    }
    const path = join(folder, 'url');
    writeFileSync(path, 'postgres://u:p@h/db\n');
    const fromFile = config({ ...cluster, DATABASE_URL_FILE: path });
    assert.deepEqual(fromFile.database, { url: 'postgres://u:p@h/db' });
    for (const url of ['mysql://u:CANARY@h/db', 'postgres:CANARY']) {
      assert.deepEqual(mistakes({ ...cluster, DATABASE_URL: url }), [
        'Cannot read DATABASE_URL: expected a URL starting with postgres:// or postgresql://',
      ]);
    }
    for (const url of ['postgres://u:CANARY/b@h/db', 'postgres://u:CANARY#b@h/db']) {
      assert.deepEqual(mistakes({ ...cluster, DATABASE_URL: url }), [
        'Cannot read DATABASE_URL: expected postgres://user:password@host:port/database, ' +
          'with / ? # and @ in a password written as %2F %3F %23 and %40',
      ]);
    }
  });

  it('says how to make the encryption key that a cluster needs', () => {
    assert.deepEqual(mistakes({ DATABASE_URL: 'postgres://u:CANARY@h/db' }), [
      'Cannot use DATABASE_URL without RINGBACK_ENCRYPTION_KEY: all nodes need the same key. ' +
        'Create one with: openssl rand -base64 32',
    ]);
  });

  it('knows three roles', () => {
    assert.deepEqual(mistakes({ RINGBACK_ROLE: 'boss' }), [
      'Cannot read RINGBACK_ROLE "boss": expected api, worker or all',
    ]);
  });

  it('refuses a key that begins like ours but has a wrong checksum', () => {
    const [text = ''] = mistakes({ RINGBACK_API_KEY: `rbk_${'x'.repeat(57)}` });
    assert.match(text, /checksum/);
  });

  it('reads secrets from files, and refuses both at once', () => {
    const path = join(folder, 'key');
    const key = 'k'.repeat(40);
    writeFileSync(path, `${key}\n`);
    assert.equal(config({ RINGBACK_API_KEY_FILE: path }).apiKey, key);
    assert.match(
      mistakes({ RINGBACK_API_KEY_FILE: path, RINGBACK_API_KEY: key })[0] ?? '',
      /twice/,
    );
    assert.match(mistakes({ RINGBACK_API_KEY_FILE: join(folder, 'none') })[0] ?? '', /ENOENT/);
  });

  it('allows loopback targets by default only while no other machine reaches it', () => {
    assert.equal(config({}).policy.allow.length, 2);
    assert.equal(config({ RINGBACK_HOST: 'localhost' }).policy.allow.length, 2);
    assert.equal(config({ RINGBACK_HOST: '0.0.0.0' }).policy.allow.length, 0);
    assert.equal(config({ RINGBACK_ALLOW_TARGETS: 'none' }).policy.allow.length, 0);
    const proxies = [
      { RINGBACK_PUBLIC_URL: 'https://hooks.example' },
      { RINGBACK_TRUST_PROXY: 'on' },
      { RINGBACK_PUBLIC_URL: 'http://localhost:8080', RINGBACK_TRUST_PROXY: 'on' },
    ];
    for (const env of proxies) {
      assert.equal(config(env).policy.allow.length, 0, JSON.stringify(env));
      const listed = config({ ...env, RINGBACK_ALLOW_TARGETS: '10.0.0.0/8' });
      assert.equal(listed.policy.allow.length, 1);
    }
    assert.equal(config({ RINGBACK_PUBLIC_URL: 'http://localhost:8080' }).policy.allow.length, 2);
  });

  it('takes the encryption key in base64 or hex, older ones behind it', () => {
    const key = Buffer.alloc(32, 7);
    const older = Buffer.alloc(32, 8);
    const text = `${key.toString('base64')}, ${older.toString('hex')}`;
    const ring = config({ RINGBACK_ENCRYPTION_KEY: text }).encryptionKey ?? [];
    assert.deepEqual(
      ring.map((bytes) => Buffer.from(bytes)),
      [key, older],
    );
    assert.equal(mistakes({ RINGBACK_ENCRYPTION_KEY: `${key.toString('hex')},x` }).length, 1);
  });

  it('warns when keys would travel in the clear, and of settings it does not know', () => {
    const warnings = (env: Environment): string[] => {
      const reading = readConfig(env);
      return reading.kind === 'config' ? [...reading.warnings] : [];
    };
    assert.deepEqual(warnings({}), []);
    assert.match(warnings({ RINGBACK_HOST: '0.0.0.0' })[0] ?? '', /sent unencrypted/);
    const proxy = { RINGBACK_TRUST_PROXY: 'on', RINGBACK_PUBLIC_URL: 'https://hooks.example' };
    assert.deepEqual(warnings({ RINGBACK_HOST: '0.0.0.0', ...proxy }), []);
    const tls = { RINGBACK_TLS_CERT: 'c', RINGBACK_TLS_KEY: 'k' };
    assert.deepEqual(warnings({ RINGBACK_HOST: '0.0.0.0', ...tls }), []);
    const short = { RINGBACK_RETENTION: '1d' };
    assert.match(warnings(short)[0] ?? '', /RINGBACK_RETENTION is shorter than the delays/);
    assert.deepEqual(warnings({ ...short, RINGBACK_RETRY: '12h,12h' }), []);
    assert.match(warnings({ RINGBACK_PROT: '1' })[0] ?? '', /RINGBACK_PROT is not a setting/);
  });

  it('warns of a proxy behind which browsers could not work', () => {
    const warnings = (env: Environment): string[] => {
      const reading = readConfig(env);
      return reading.kind === 'config' ? [...reading.warnings] : [];
    };
    const [alone, ...others] = warnings({ RINGBACK_TRUST_PROXY: 'on' });
    assert.match(alone ?? '', /RINGBACK_TRUST_PROXY is set without RINGBACK_PUBLIC_URL/);
    assert.deepEqual(others, []);
    assert.deepEqual(warnings({ RINGBACK_PUBLIC_URL: 'https://hooks.example/' }), []);
    const below = warnings({ RINGBACK_PUBLIC_URL: 'https://hooks.example/ring' });
    assert.match(below[0] ?? '', /RINGBACK_PUBLIC_URL has a path/);
  });
});
