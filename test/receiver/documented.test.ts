// The programs of docs/receiving.md, as they stand there: each is started, gets a callback and a forgery,
// and says what it should.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ed25519Signer, genuine, hmacSigner, type Given } from './genuine-callbacks.ts';

const root = join(import.meta.dirname, '..', '..');
const own = hmacSigner(1);

/** Programs by the name in their first line. */
async function programs(): Promise<Map<string, string>> {
  const page = await readFile(join(root, 'docs/receiving.md'), 'utf8');
  const blocks = page.matchAll(/^```js\n\/\/ (\S+)\n([^]*?)^```$/gm);
  return new Map(Array.from(blocks, ([, name = '', code = '']) => [name, code]));
}

interface Folder extends AsyncDisposable {
  write: (name: string) => Promise<string>;
}

/** Where `ringback/receiver` is the one of this checkout. */
async function folder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'ringback-documented-'));
  await symlink(join(root, 'node_modules'), join(path, 'node_modules'));
  await writeFile(join(path, 'package.json'), '{"type":"module"}');
  const library = pathToFileURL(join(root, 'src/receiver/receiver.ts')).href;
  const all = await programs();
  return {
    write: async (name) => {
      const code = all.get(name);
      assert(code !== undefined, `docs/receiving.md has no ${name}`);
      const file = join(path, name);
      await writeFile(file, code.replace('ringback/receiver', library));
      return file;
    },
    [Symbol.asyncDispose]: async () => rm(path, { recursive: true }),
  };
}

/**
 * Loaded before the program: whatever port it names, it gets a free one of this machine alone, and says
 * which. A port that is looked for beforehand could be somebody else's by then.
 */
const onAnyPort = `data:text/javascript,${encodeURIComponent(`
  import { Server } from 'node:net';
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...given) {
    this.once('listening', () => process.send(this.address().port));
    const then = given.find((one) => typeof one === 'function');
    return listen.call(this, { port: 0, host: '127.0.0.1' }, then);
  };
`)}`;

function now(): { timestamp: string } {
  return { timestamp: String(Math.floor(Date.now() / 1000)) };
}

async function send(port: unknown, { headers, body }: Given): Promise<number> {
  const plain = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  const init = { method: 'POST', headers: plain, body: Uint8Array.from(body) };
  return (await fetch(`http://127.0.0.1:${String(port)}/callbacks`, init)).status;
}

describe('docs/receiving.md', { concurrency: 2 }, () => {
  for (const name of ['node-http.js', 'express-app.js', 'fastify-app.js', 'hono-app.js']) {
    it(`${name} takes a callback and refuses a forgery`, async () => {
      await using place = await folder();
      const file = await place.write(name);
      const env = { ...process.env, RINGBACK_SECRET: own.secret };
      const child = spawn(process.execPath, ['--import', onAnyPort, file], {
        env,
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      });
      assert(child.stdout !== null && child.stderr !== null);
      try {
        let said = '';
        child.stderr.on('data', (text: Buffer) => (said += text.toString()));
        const [port]: unknown[] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
        const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
        assert.equal((await lines.next()).value, 'Listening', said);
        const given = genuine(own, { ...now(), body: '{"order":1}' });
        assert.equal(await send(port, { ...given, body: Buffer.from('{"order":2}') }), 401);
        assert.equal(await send(port, given), 200, said);
        assert.equal((await lines.next()).value, 'order.paid { order: 1 }');
      } finally {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }
    });
  }

  it('once.js handles it once', async () => {
    await using place = await folder();
    const file = await place.write('once.js');
    const child = spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) lines.push(line);
    const page = await readFile(join(root, 'docs/receiving.md'), 'utf8');
    const shown = /```text output\n([^]*?)\n```/.exec(page)?.[1];
    assert.equal(lines.join('\n'), shown);
  });

  it('is-genuine.js knows a callback from a forgery', async () => {
    await using place = await folder();
    const { isGenuine }: { isGenuine: (...given: unknown[]) => boolean } = await import(
      pathToFileURL(await place.write('is-genuine.js')).href
    );
    const pair = ed25519Signer(1);
    const { headers, body } = genuine(pair, now());
    assert.equal(isGenuine(pair.secret, headers, body), true);
    assert.equal(isGenuine(pair.secret, headers, Buffer.from('{}')), false);
    assert.equal(isGenuine(pair.secret, {}, body), false);
    // Yesterday's callback, whose body begins like a time of today.
    const today = now().timestamp;
    const old = { id: 'evt_x', timestamp: String(Number(today) - 86_400), body: `${today}.25` };
    const shifted = { 'webhook-id': `evt_x.${old.timestamp}`, 'webhook-timestamp': today };
    const replayed = { ...genuine(pair, old).headers, ...shifted };
    assert.equal(isGenuine(pair.secret, replayed, Buffer.from('25')), false);
  });

  it('standard.js knows a callback from a forgery', async () => {
    await using place = await folder();
    process.env['RINGBACK_SECRET'] = own.secret;
    const { read }: { read: (headers: object, body: Buffer) => unknown } = await import(
      pathToFileURL(await place.write('standard.js')).href
    );
    const { headers, body } = genuine(own, { ...now(), body: '{"order":1}' });
    assert.deepEqual(read(headers, Buffer.from(body)), { order: 1 });
    assert.throws(() => read(headers, Buffer.from('{"order":2}')));
    const dotted = genuine(own, { ...now(), id: 'evt.1', body: '{}' });
    assert.throws(() => read(dotted.headers, Buffer.from(dotted.body)), /a dot/);
  });
});
