// How `ringback serve` protects secrets: TLS in transit, and the encryption key at rest.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { get as httpsGet } from 'node:https';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import {
  data,
  newFolder,
  runChild,
  serve,
  startChild,
  status,
  type Folder,
} from './ringback-process.ts';

const run = promisify(execFile);
const zeroKey = Buffer.alloc(32).toString('base64');
const otherKey = Buffer.alloc(32, 1).toString('base64');
const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
);

describe('TLS', { skip: !hasOpenssl && 'openssl is not installed' }, () => {
  async function makeCertificate(folder: Folder): Promise<{ cert: string; key: string }> {
    const cert = join(folder.path, 'cert.pem');
    const key = join(folder.path, 'key.pem');
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const out = ['-keyout', key, '-out', cert, '-days', '2'];
    await run('openssl', ['req', '-x509', ...curve, ...out, ...subject]);
    return { cert, key };
  }

  it('serves https, and prints an https URL', async () => {
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
    await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`), 'plain http is refused');
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
  it('is refused if it does not match, and no new key file is left behind', async () => {
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
      assert.match(err, /^Cannot decrypt the secrets in ".*": the encryption key does not match/);
      assert.doesNotMatch(err, /^\s+at /m);
      assert.ok(!existsSync(join(folder.path, 'encryption.key')));
    }
    const rotated = data(folder, { RINGBACK_ENCRYPTION_KEY: `${otherKey},${zeroKey}` });
    await using again = await serve(rotated);
    assert.equal(await status(`${again.url}/readyz`), 200);
  });

  it('is created once, in a file that only its owner can read, and never changed', async () => {
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
    assert.equal(readFileSync(file, 'utf8'), `${otherKey}\n`, 'the file of the user is kept');
    writeFileSync(file, made);
    await using again = startChild(['serve', '--port', '0'], data(folder));
    await again.says(/listens on/);
    assert.equal(readFileSync(file, 'utf8'), made);
  });
});
