// Nodes over HTTP: the list of nodes, what each role offers, and whether a node is ready.
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { version } from '../../src/core/base/package.ts';
import { start } from './harness.ts';

describe('GET /nodes', () => {
  it('lists the live nodes, and marks the one that answers', async () => {
    await using service = await start({ env: { RINGBACK_NODE_NAME: 'a-1' } });
    const { status, json } = await service.call({ path: '/nodes' });
    assert.equal(status, 200);
    const [node, ...others] = json['items'] as Record<string, unknown>[];
    assert.deepEqual(others, []);
    const { startedAt, lastSeenAt, ...rest } = node ?? {};
    assert.deepEqual(rest, { name: 'a-1', role: 'all', version, self: true });
    for (const time of [startedAt, lastSeenAt]) assert.match(String(time), /^\d{4}-.*Z$/);
  });
});

describe('GET /readyz', () => {
  it('returns the name and the role of the node', async () => {
    await using service = await start();
    const { status, json } = await service.call({ path: '/readyz', key: null });
    assert.equal(status, 200);
    assert.deepEqual(json, { status: 'ok', node: hostname(), role: 'all' });
  });
});

const subscribed = {
  method: 'POST',
  path: '/subscribe',
  body: { callbackUrl: 'http://127.0.0.1:9000/' },
};
const published = {
  method: 'POST',
  path: '/events',
  body: { event: 'a', payload: { message: '' } },
};

describe('a worker', () => {
  it('serves its probes, and for everything else names the roles to call instead', async () => {
    await using service = await start({ role: 'worker' });
    for (const path of ['/healthz', '/readyz']) {
      assert.equal((await service.call({ path, key: null })).status, 200, path);
    }
    const { json } = await service.call({ path: '/readyz' });
    assert.equal(json['role'], 'worker');
    const others = ['/', '/docs', '/openapi.json', '/nodes', '/events'].map((path) => ({ path }));
    for (const call of [subscribed, published, ...others]) {
      const answer = await service.call(call);
      assert.deepEqual([answer.status, answer.json['code']], [404, 'not_found'], call.path);
      assert.match(String(answer.json['detail']), /This node is a worker.*role api or all/);
    }
    const wrong = await service.call({ method: 'POST', path: '/healthz' });
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD']);
  });
});

describe('a node with the role api', () => {
  it('accepts requests and delivers nothing: deliveries stay pending for other nodes', async () => {
    await using service = await start({ role: 'api' });
    assert.equal((await service.call(subscribed)).status, 201);
    assert.equal((await service.call(published)).status, 202);
    const { json } = await service.call({ path: '/deliveries' });
    const [delivery] = json['items'] as Record<string, unknown>[];
    assert.deepEqual(
      [delivery?.['state'], delivery?.['attemptCount']],
      ['due', 0],
      'inserted as pending',
    );
    const nodes = await service.call({ path: '/nodes' });
    assert.equal((nodes.json['items'] as { role: string }[])[0]?.role, 'api');
  });
});

describe('a rejected event', () => {
  it('shows the reason, and the payload even if it is not JSON', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ringback-rejected-'));
    const env = { RINGBACK_DATA: folder, RINGBACK_API_KEY: 'k'.repeat(40) };
    const ring = { RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') };
    try {
      let id = '';
      {
        await using service = await start({ env: { ...env, ...ring } });
        id = String((await service.call(published)).json['eventId']);
        const { json } = await service.call({ path: `/events/${id}` });
        assert.equal('rejected' in json, false);
      }
      // Such events come from the SQL inbox, which only PostgreSQL has, so the test writes the row itself.
      const db = new DatabaseSync(join(folder, 'ringback.db'));
      db.prepare('update event set rejected = ?, payload = ?').run('it broke', Buffer.from('{"x'));
      db.close();
      await using service = await start({ env: { ...env, ...ring } });
      const { status, json } = await service.call({ path: `/events/${id}` });
      assert.deepEqual([status, json['rejected'], json['payload']], [200, 'it broke', '{"x']);
      const list = await service.call({ path: '/events' });
      const [item] = list.json['items'] as Record<string, unknown>[];
      assert.deepEqual([item?.['id'], item?.['rejected']], [id, 'it broke']);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
