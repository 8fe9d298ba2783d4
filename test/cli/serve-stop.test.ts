// How `ringback serve` stops: what is under way is finished first, unless it is asked twice.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { newFolder, serve, type Env, type Folder } from './child.ts';

function data({ path }: Folder, more: Env = {}): Env {
  return { RINGBACK_DATA: path, ...more };
}

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
