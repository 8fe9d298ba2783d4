// `ringback serve` as a real process: what it prints, when it refuses to start, how it stops.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { commands } from '../../src/cli/commands.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { terminalOf } from './in-process.ts';
import { newFolder, runChild, serve, startChild, type Env, type Folder } from './child.ts';

const run = promisify(execFile);
const zeroKey = Buffer.alloc(32).toString('base64');
const otherKey = Buffer.alloc(32, 1).toString('base64');

async function isThere(name: string): Promise<boolean> {
  return run(name, ['--version']).then(
    () => true,
    () =>
      run(name, ['version']).then(
        () => true,
        () => false,
      ),
  );
}
const hasCurl = await isThere('curl');
const hasOpenssl = await isThere('openssl');

function data({ path }: Folder, more: Env = {}): Env {
  return { RINGBACK_DATA: path, ...more };
}

async function status(url: string, init: RequestInit = {}): Promise<number> {
  const response = await fetch(url, init);
  await response.arrayBuffer();
  return response.status;
}

async function subscribeWith(url: string, key: string): Promise<number> {
  return status(`${url}/subscribe`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: '{"callbackUrl":"http://127.0.0.1:9000/"}',
  });
}

/** Runs each curl line that was printed, as a person would who pastes it; gives the statuses. */
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

/** In this process: what a child says goes into a pipe, which is no terminal. */
async function inTerminal(env: Env, look: (greeting: string) => Promise<void>): Promise<void> {
  const greeting = Promise.withResolvers<string>();
  const stopped = Promise.withResolvers<void>();
  const terminal = terminalOf({
    out: greeting.resolve,
    err: (text) => assert.fail(text),
    columns: 100,
    env: { RINGBACK_PORT: '0', RINGBACK_LOG: 'silent', ...env },
    stopped: stopped.promise,
  });
  const served = runCommandLine(['serve'], terminal, commands);
  try {
    const ended = served.then(() => assert.fail('It ended without a greeting'));
    await look(await Promise.race([greeting.promise, ended]));
  } finally {
    stopped.resolve();
    await served;
  }
}

async function ownKeys(url: string, headers: Record<string, string>): Promise<[{ id: string }]> {
  const response = await fetch(`${url}/keys`, { headers });
  const { items } = (await response.json()) as { items: [{ id: string }] };
  return items;
}

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
      assert.match(first.out(), /shown this once/);
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
    assert.doesNotMatch(second.out(), /shown this once/);
    assert.equal(await subscribeWith(second.url, key), 201);
  });

  it('prints a link to the console at each start in a terminal, which signs in once', async () => {
    await using folder = await newFolder();
    const signIn = async (greeting: string): Promise<string> => {
      const [, page = '', ticket] =
        /^ {2}console +(\S+)#ticket=([\w-]{43}) +\(signs in once/m.exec(greeting) ?? [];
      assert.match(page, /\/console$/);
      const body = JSON.stringify({ ticket });
      const headers = { 'content-type': 'application/json' };
      const call = { method: 'POST', headers, body };
      assert.equal(await status(`${page}/session`, call), 201);
      assert.equal(await status(`${page}/session`, call), 401);
      return page.replace(/\/console$/, '');
    };
    const key = 'chosen-for-a-terminal-'.padEnd(40, 'k');
    const env = data(folder, { RINGBACK_API_KEY: key });
    await inTerminal(env, async (greeting) => void (await signIn(greeting)));
    await inTerminal(env, async (greeting) => {
      const url = await signIn(greeting);
      const headers = { 'x-api-key': key };
      const [{ id }] = await ownKeys(url, headers);
      assert.equal(await status(`${url}/keys/${id}`, { method: 'DELETE', headers }), 204);
    });
    await inTerminal(env, async (greeting) => assert.match(greeting, plainConsole));
  });

  it('prints no link where it may be kept in a log, only the address', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder));
    await child.says(plainConsole);
    assert.doesNotMatch(child.out() + child.err(), /ticket/);
  });

  it(
    'prints curl lines that work as pasted',
    { skip: !hasCurl && 'there is no curl' },
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

  it('warns when keys would travel in the clear', async () => {
    const open = { RINGBACK_HOST: '0.0.0.0', RINGBACK_LOG: 'silent' };
    {
      await using folder = await newFolder();
      await using child = await serve(data(folder, open));
      await child.says(/Warning: Listening on 0\.0\.0\.0 without TLS.*HTTPS/, 'err');
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

  it('warns of a setting that it does not know', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder, { RINGBACK_PROT: '1' }));
    await child.says(/Warning: RINGBACK_PROT is no setting/, 'err');
  });

  it('takes a flag before the variable', async () => {
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

  it('reports all mistakes at once, without the secrets, and touches nothing', async () => {
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

  it('refuses a data folder that another process uses, which goes on', async () => {
    await using folder = await newFolder();
    const env = data(folder, { RINGBACK_ENCRYPTION_KEY: zeroKey });
    await using first = await serve(env);
    for (const second of [env, data(folder)]) {
      const { code, out, err } = await runChild(['serve', '--port', '0'], second);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /^Cannot open ".*ringback\.db": another Ringback process is using it/);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    assert.ok(!existsSync(join(folder.path, 'encryption.key')), 'the refused one made no key');
    assert.equal(await subscribeWith(first.url, first.key ?? ''), 201);
  });

  it('says when the port is taken, and lets go of the data folder', async () => {
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

  it('says in a sentence why it cannot start', async () => {
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

  it('warns when the chosen key was revoked', async () => {
    await using folder = await newFolder();
    const key = 'a-key-that-was-chosen-by-an-operator';
    const env = data(folder, { RINGBACK_API_KEY: key });
    {
      await using first = await serve(env);
      assert.ok(!first.out().includes(key), 'a chosen key is not printed');
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

describe('stopping', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes the request under way on ${signal}, then ends with 0`, async () => {
      await using folder = await newFolder();
      await using child = await serve(data(folder));
      const idle = await fetch(`${child.url}/healthz`); // Leaves a connection that is kept alive.
      await idle.arrayBuffer();
      const request = await startRequest(child.url, child.key ?? '');
      child.signal(signal);
      await child.says(/Stopping: requests under way are finished first/);
      assert.match(await request.finish(), /^HTTP\/1\.1 201 .*"subscriberId":"sub_/s);
      assert.equal(await child.ended, 0);
      await assert.rejects(fetch(`${child.url}/healthz`));

      await using again = await serve(data(folder));
      const headers = { 'X-API-Key': child.key ?? '' };
      const list = (await (await fetch(`${again.url}/subscriptions`, { headers })).json()) as {
        items: unknown[];
      };
      assert.equal(list.items.length, 1, 'and what it answered was kept');
    });
  }

  it('does not wait any more on the second signal', async () => {
    await using folder = await newFolder();
    await using child = await serve(data(folder));
    const request = await startRequest(child.url, child.key ?? '');
    child.signal('SIGTERM');
    await child.says(/Stopping/);
    child.signal('SIGTERM');
    assert.equal(await child.ended, 'SIGTERM');
    await request.closed;
  });
});

interface UnderWay {
  /** Sends the rest; resolves with the whole answer. */
  finish: () => Promise<string>;
  closed: Promise<void>;
}

/** A request whose body has not come yet. `100 Continue` proves that the service has begun with it. */
async function startRequest(url: string, key: string): Promise<UnderWay> {
  const { hostname, port, host } = new URL(url);
  const body = '{"callbackUrl":"http://127.0.0.1:9000/"}';
  const head = [
    'POST /subscribe HTTP/1.1',
    `Host: ${host}`,
    `X-API-Key: ${key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  const socket = connect(Number(port), hostname);
  let text = '';
  const continued = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => undefined); // A reset is an end too.
    socket.on('close', () => resolve());
  });
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.startsWith('HTTP/1.1 100 ')) continued.resolve();
  });
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await continued.promise;
  return {
    finish: async () => {
      text = '';
      socket.write(body);
      await closed;
      return text;
    },
    closed,
  };
}

describe('TLS', { skip: !hasOpenssl && 'there is no openssl' }, () => {
  async function makeCertificate(folder: Folder): Promise<{ cert: string; key: string }> {
    const cert = join(folder.path, 'cert.pem');
    const key = join(folder.path, 'key.pem');
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const out = ['-keyout', key, '-out', cert, '-days', '2'];
    await run('openssl', ['req', '-x509', ...curve, ...out, ...subject]);
    return { cert, key };
  }

  it('serves https, and says so', async () => {
    await using folder = await newFolder();
    const { cert, key } = await makeCertificate(folder);
    const env = { RINGBACK_TLS_CERT: cert, RINGBACK_TLS_KEY: key, RINGBACK_HOST: '0.0.0.0' };
    await using child = await serve({ ...env, RINGBACK_DATA: join(folder.path, 'data') });
    assert.match(child.url, /^https:\/\/localhost:/);
    assert.doesNotMatch(child.err(), /Warning/);
    const { port } = new URL(child.url);
    const answer = await new Promise<{ code: number | undefined; isTrusted: boolean }>(
      (resolve, reject) => {
        const options = { ca: readFileSync(cert), headers: { 'X-API-Key': child.key ?? '' } };
        const call = httpsGet(`https://127.0.0.1:${port}/subscriptions`, options, (response) => {
          response.resume();
          const isTrusted = 'authorized' in response.socket && response.socket.authorized === true;
          response.on('end', () => resolve({ code: response.statusCode, isTrusted }));
        });
        call.on('error', reject);
      },
    );
    assert.deepEqual(answer, { code: 200, isTrusted: true });
    await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`), 'and nothing in the clear');
  });

  it('refuses a key that belongs to another certificate', async () => {
    await using folder = await newFolder();
    await using other = await newFolder();
    const { cert } = await makeCertificate(folder);
    const { key } = await makeCertificate(other);
    const env = { RINGBACK_TLS_CERT: cert, RINGBACK_TLS_KEY: key, RINGBACK_PORT: '0' };
    const { code, err } = await runChild(['serve', '--data', join(folder.path, 'data')], env);
    assert.equal(code, 1);
    assert.match(err, /^Cannot start: .*key/);
    assert.doesNotMatch(err, /^\s+at /m);
  });
});

describe('the encryption key', () => {
  it('is refused when it is another one, and no new key file stays behind', async () => {
    await using folder = await newFolder();
    const right = data(folder, { RINGBACK_ENCRYPTION_KEY: zeroKey });
    {
      await using first = await serve(right);
      first.signal('SIGTERM');
      assert.equal(await first.ended, 0);
    }
    for (const env of [data(folder), data(folder, { RINGBACK_ENCRYPTION_KEY: otherKey })]) {
      const { code, out, err } = await runChild(['serve', '--port', '0'], env);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /^Cannot open the secrets in ".*": the encryption key is another one/);
      assert.doesNotMatch(err, /^\s+at /m);
      assert.ok(!existsSync(join(folder.path, 'encryption.key')));
    }
    const rotated = data(folder, { RINGBACK_ENCRYPTION_KEY: `${otherKey},${zeroKey}` });
    await using again = await serve(rotated);
    assert.equal(await status(`${again.url}/readyz`), 200);
  });

  it('is made once, in a file that only its owner reads, and never changed', async () => {
    await using folder = await newFolder();
    const file = join(folder.path, 'encryption.key');
    {
      await using first = await serve(data(folder));
      first.signal('SIGTERM');
      await first.ended;
    }
    const made = readFileSync(file, 'utf8');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    writeFileSync(file, `${otherKey}\n`);
    const { code } = await runChild(['serve', '--port', '0'], data(folder));
    assert.equal(code, 1);
    assert.equal(readFileSync(file, 'utf8'), `${otherKey}\n`, 'a file of the person is kept');
    writeFileSync(file, made);
    await using again = startChild(['serve', '--port', '0'], data(folder));
    await again.says(/listens on/);
    assert.equal(readFileSync(file, 'utf8'), made);
  });
});
