// How `ringback serve` stops: requests in progress are finished first, unless it is signalled twice.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startRequest } from '../api/request-in-progress.ts';
import { data, newFolder, serve } from './ringback-process.ts';

describe('stopping', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`finishes the request in progress on ${signal}, then exits with 0`, async () => {
      await using folder = await newFolder();
      await using child = await serve(data(folder));
      const idle = await fetch(`${child.url}/healthz`); // Leaves an idle keep-alive connection.
      await idle.arrayBuffer();
      const request = await startRequest(child.url, child.key ?? '');
      child.signal(signal);
      await child.says(/Stopping: finishing in-flight requests/);
      assert.match(await request.finish(), /^HTTP\/1\.1 201 .*"subscriberId":"sub_/s);
      assert.equal(await child.ended, 0);
      await assert.rejects(fetch(`${child.url}/healthz`));

      await using again = await serve(data(folder));
      const headers = { 'X-API-Key': child.key ?? '' };
      const list = (await (await fetch(`${again.url}/subscriptions`, { headers })).json()) as {
        items: unknown[];
      };
      assert.equal(list.items.length, 1, 'the answered change was stored');
    });
  }

  it('stops at once on the second signal', async () => {
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
