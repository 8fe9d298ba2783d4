// `ringback serve` as a real process: what it prints, and when it refuses to start.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { data, newFolder, runChild, serve, status, type Env } from './ringback-process.ts';
import { runHere } from './in-process.ts';

const run = promisify(execFile);
const zeroKey = Buffer.alloc(32).toString('base64');

const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

async function subscribeWith(url: string, key: string): Promise<number> {
  return status(`${url}/subscribe`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: '{"callbackUrl":"http://127.0.0.1:9000/"}',
  });
}

/** Runs each printed curl line as if pasted into a shell; returns the statuses. */
async function paste(printed: string, env: Env = {}): Promise<string[]> {
  const lines = printed.split('\n').filter((line) => line.startsWith('  curl '));
  const { PATH = '' } = process.env;
  const statuses: string[] = [];
  for (const line of lines) {
    const silent = `${line} -sS -o /dev/null -w '%{http_code}'`;
    statuses.push((await run('sh', ['-c', silent], { env: { PATH, ...env } })).stdout);
  }
  return statuses;
}

const plainConsole = /^ {2}console +http:\S+\/console +\(sign in with a key\)$/m;

describe('ringback serve', () => {
  it('prints address, app id and key at its first start, and the key never again', async () => {
    await using folder = await newFolder();
    let key = '';
    let appId = '';
    {
      await using first = await serve(data(folder));
      key = first.key ?? '';
      appId = first.appId;
      assert.match(first.url, /^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
      assert.match(appId, /^app_[0-9a-z]{26}$/);
      assert.match(key, /^rbk_[0-9A-Za-z]{57}$/);
      assert.match(first.out(), /shown only once/);
      assert.ok(first.out().includes(`${first.url}/docs`));
      assert.equal(await status(`${first.url}/healthz`), 200);
      assert.equal(await subscribeWith(first.url, key), 201);
      first.signal('SIGTERM');
      assert.equal(await first.ended, 0);
      assert.ok(!first.err().includes(key), 'the key is not in the log');
      assert.doesNotMatch(first.err(), /Warning/);
    }
    await using second = await serve(data(folder));
    assert.deepEqual([second.appId, second.key], [appId, undefined]);
    assert.ok(!second.out().includes(key.slice(4)));
    assert.doesNotMatch(second.out(), /shown only once/);
    assert.equal(await subscribeWith(second.url, key), 201);
  });

  it('prints the address without a sign-in link outside a terminal, because the output may be logged', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder));
    await child.says(plainConsole);
    assert.doesNotMatch(child.out() + child.err(), /ticket/);
  });

  it(
    'prints curl lines that work as pasted',
    { skip: !hasCurl && 'curl is not installed' },
    async () => {
      await using folder = await newFolder();
      let key = '';
      {
        await using first = await serve(data(folder));
        key = first.key ?? '';
        assert.deepEqual(await paste(first.out()), ['201', '202', '200']);
      }
      await using second = await serve(data(folder));
      const statuses = await paste(second.out(), { RINGBACK_API_KEY: key });
      assert.deepEqual(statuses, ['201', '202', '200']);
    },
  );

  it('warns if keys would be sent unencrypted', async () => {
    const open = { RINGBACK_HOST: '0.0.0.0', RINGBACK_LOG: 'silent' };
    {
      await using folder = await newFolder();
      await using child = await serve(data(folder, open));
      await child.says(/Warning: Listening on 0\.0\.0\.0 without TLS.*unencrypted/, 'err');
      const { port } = new URL(child.url);
      assert.equal(await status(`http://127.0.0.1:${port}/healthz`), 200);
    }
    await using folder = await newFolder();
    const proxy = { RINGBACK_TRUST_PROXY: 'on', RINGBACK_PUBLIC_URL: 'https://hooks.example' };
    await using child = await serve(data(folder, { ...open, ...proxy }));
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0);
    assert.equal(child.err(), '');
  });

  it('warns about an unknown setting', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder, { RINGBACK_PROT: '1' }));
    await child.says(/Warning: RINGBACK_PROT is not a setting/, 'err');
  });

  it('prefers a flag to the variable', async () => {
    await using folder = await newFolder();
    await using other = await newFolder();
    await using child = await serve(data(other, { RINGBACK_PORT: 'x' }), [
      '--port=0',
      '--data',
      folder.path,
    ]);
    assert.equal(await status(`${child.url}/readyz`), 200);
    assert.ok(existsSync(join(folder.path, 'ringback.db')));
    assert.deepEqual(readdirSync(other.path), []);
  });

  it('reports all mistakes at once, without secrets, and changes nothing', async () => {
    await using folder = await newFolder();
    const { code, out, err } = await runChild(['serve'], {
      RINGBACK_DATA: join(folder.path, 'new'),
      RINGBACK_PORT: '70000',
      RINGBACK_LOG: 'loud',
      RINGBACK_TRUST_PROXY: 'perhaps',
      RINGBACK_API_KEY: 'canary-key',
      RINGBACK_ENCRYPTION_KEY: 'canary-encryption',
      RINGBACK_TLS_CERT: '/cert.pem',
      RINGBACK_PUBLIC_URL: 'hooks.example',
    });
    assert.deepEqual([code, out], [1, '']);
    const named = ['PORT', 'LOG', 'TRUST_PROXY', 'API_KEY', 'ENCRYPTION_KEY', 'TLS_CERT'];
    for (const name of [...named, 'PUBLIC_URL']) assert.match(err, new RegExp(`RINGBACK_${name}`));
    assert.doesNotMatch(err, /canary|^\s+at /m);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('names the flag of an invalid value, and exits with the code for wrong usage', async () => {
    const wrong = await runHere(['serve', '--port', 'abc'], { env: { RINGBACK_LOG: 'loud' } });
    assert.deepEqual([wrong.code, wrong.out], [2, '']);
    assert.match(wrong.err, /^Cannot read --port "abc": expected/);
    assert.match(
      wrong.err,
      /\nCannot read RINGBACK_LOG "loud": [^]*\nRun "ringback serve --help" for usage\n$/,
    );
    const set = await runHere(['serve'], { env: { RINGBACK_PORT: 'abc' } });
    assert.equal(set.code, 1);
    assert.match(set.err, /^Cannot read RINGBACK_PORT "abc"/);
  });

  it('refuses a data folder in use by another process, which keeps running', async () => {
    await using folder = await newFolder();
    const env = data(folder, { RINGBACK_ENCRYPTION_KEY: zeroKey });
    await using first = await serve(env);
    for (const second of [env, data(folder)]) {
      const { code, out, err } = await runChild(['serve', '--port', '0'], second);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /^Cannot open ".*ringback\.db": another Ringback process is using it/);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    assert.ok(
      !existsSync(join(folder.path, 'encryption.key')),
      'the refused process created no key',
    );
    assert.equal(await subscribeWith(first.url, first.key ?? ''), 201);
  });

  it('reports that the port is in use, and releases the data folder', async () => {
    await using folder = await newFolder();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = taken.address() as AddressInfo;
      const { code, out, err } = await runChild(['serve', '--port', String(port)], data(folder));
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, new RegExp(`^Cannot start: listen EADDRINUSE.*127\\.0\\.0\\.1:${port}`));
      assert.doesNotMatch(err, /^\s+at /m);
    } finally {
      await new Promise((resolve) => taken.close(resolve));
    }
    await using child = await serve(data(folder));
    assert.equal(await status(`${child.url}/readyz`), 200);
  });

  it('explains in one sentence why it cannot start', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'file');
    writeFileSync(file, 'no PEM');
    const fine = { RINGBACK_DATA: join(folder.path, 'data'), RINGBACK_PORT: '0' };
    const envs: Record<string, Env> = {
      'data is a file': { ...fine, RINGBACK_DATA: file },
      'data is below a file': { ...fine, RINGBACK_DATA: join(file, 'x') },
      'no such certificate': { ...fine, RINGBACK_TLS_CERT: '/none', RINGBACK_TLS_KEY: '/none' },
      'no certificate': { ...fine, RINGBACK_TLS_CERT: file, RINGBACK_TLS_KEY: file },
      'not our address': {
        ...fine,
        RINGBACK_HOST: '203.0.113.7',
        RINGBACK_TRUST_PROXY: 'on',
        RINGBACK_PUBLIC_URL: 'https://hooks.example',
      },
    };
    for (const [name, env] of Object.entries(envs)) {
      const { code, out, err } = await runChild(['serve'], env);
      assert.deepEqual([code, out], [1, ''], name);
      assert.match(err, /^Cannot /, name);
      assert.doesNotMatch(err, /^\s+at /m, name);
    }
  });

  it('warns if the configured key was revoked', async () => {
    await using folder = await newFolder();
    const key = 'a-key-that-was-chosen-by-an-operator';
    const env = data(folder, { RINGBACK_API_KEY: key });
    {
      await using first = await serve(env);
      assert.ok(!first.out().includes(key), 'a configured key is not printed');
      assert.doesNotMatch(first.out(), /Warning/);
      const headers = { 'X-API-Key': key };
      const list = (await (await fetch(`${first.url}/keys`, { headers })).json()) as {
        items: { id: string }[];
      };
      assert.equal(list.items.length, 1);
      const path = `${first.url}/keys/${list.items[0]?.id}`;
      assert.equal(await status(path, { method: 'DELETE', headers }), 204);
      assert.equal(await status(`${first.url}/keys`, { headers }), 401);
    }
    await using second = await serve(env);
    assert.match(second.out(), /Warning: the key in RINGBACK_API_KEY was revoked or has expired/);
    assert.equal(await status(`${second.url}/keys`, { headers: { 'X-API-Key': key } }), 401);
  });
});
