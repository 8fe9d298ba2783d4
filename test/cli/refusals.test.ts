// The errors of commands if the service refuses them or is down: a sentence with the remedy, and JSON for programs.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { errorOf, startCommanded, type Commanded } from './command-stage.ts';
import { runHere } from './in-process.ts';

let commanded: Commanded;
before(async () => {
  commanded = await startCommanded();
});
after(async () => commanded[Symbol.asyncDispose]());

async function freeUrl(): Promise<string> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(`http://127.0.0.1:${port}`));
    });
  });
}

describe('a command that calls a service', () => {
  it('reports that the service is not running, and how to start it', async () => {
    const url = await freeUrl();
    const { code, out, err } = await commanded.run(['events', '--url', url]);
    assert.deepEqual([code, out], [1, '']);
    const [first = '', second = ''] = err.split('\n');
    assert.match(first, new RegExp(`^Cannot reach Ringback at ${url}: .*ECONNREFUSED`));
    assert.match(second, /^Is it running\? Start it with "ringback serve", or set its address/);
  });

  it('sends its app id if the service requires it', async () => {
    await using asking = await startCommanded({ RINGBACK_REQUIRE_APP_ID: 'on' });
    const without = await asking.run(['events']);
    assert.equal(without.code, 1);
    assert.match(without.err, /pass --app-id/);
    for (const [args, env] of [
      [['--app-id', asking.service.appId], {}],
      [[], { RINGBACK_APP_ID: asking.service.appId }],
    ] as const) {
      assert.equal((await asking.run(['events', ...args], { env })).code, 0);
    }
  });

  it('reports that the key is refused, without printing it', async () => {
    const key = `rbk_${'x'.repeat(40)}`;
    for (const args of [
      ['events'],
      ['publish', 'a', '--message', 'x'],
      ['retry', `dlv_${'0'.repeat(26)}_0`],
    ]) {
      const { code, out, err } = await commanded.run([...args, '--key', key]);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(
        err,
        /^Cannot call Ringback at http:\S+: the service rejected the API key\.\nPass another/,
      );
      assert.ok(!err.includes(key));
    }
    const answer = await commanded.run(['events', '--key', key, '--json']);
    assert.equal(answer.out, '');
    const { code, status } = errorOf(answer);
    assert.deepEqual([code, status], ['unauthorized', 401]);
    const none = await commanded.run(['events'], { env: { RINGBACK_API_KEY: '' } });
    assert.equal(none.code, 2);
    assert.match(none.err, /^Cannot call Ringback: no API key\. Pass --key/);
    const odd = await commanded.run(['events', '--key', 'a secret\nkey']);
    assert.equal(odd.code, 2);
    assert.ok(!odd.err.includes('a secret'), odd.err);
  });

  it('never prints a password in a URL', async () => {
    for (const url of [
      'http://user:s3cret@h:99999',
      'http://user:s3cret@h',
      's3cret@h',
      'x:s3:cret@h',
    ]) {
      for (const env of [{ RINGBACK_URL: url }, {}]) {
        const words = 'RINGBACK_URL' in env ? [] : ['--url', url];
        const { code, err } = await runHere(['events', '--key', 'k', ...words], { env });
        assert.equal(code, 2);
        assert.doesNotMatch(err, /s3:?cret/);
      }
    }
    const { err } = await runHere(['events', '--key', 'k', '--url', 'h:99999/@']);
    assert.match(err, /^Cannot read --url: expected an http or https URL/);
  });

  it('names the missing scope, and how to create a key with it', async () => {
    const { json } = await commanded.service.call({
      method: 'POST',
      path: '/keys',
      body: { name: 'reader', scopes: ['read'] },
    });
    const key = ['--key', String(json['key'])];
    const publish = await commanded.run(['publish', 'a', '--message', 'x', ...key]);
    assert.deepEqual([publish.code, publish.out], [1, '']);
    assert.match(publish.err, /needs the scope "publish", the key has: read\n/);
    assert.match(publish.err, /\n {2}ringback key create --name NAME --scopes publish\n$/);
    const retry = await commanded.run(['retry', `dlv_${'0'.repeat(26)}_0`, ...key]);
    assert.match(retry.err, /needs the scope "retry", [^]*--scopes retry\n$/);
    assert.equal((await commanded.run(['events', ...key])).code, 0);
  });
});
