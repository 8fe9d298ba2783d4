import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openDatabase } from '../postgres/database.ts';
import { asksToCommit, startProxy } from '../postgres/proxy.ts';
import { startPostgres } from '../postgres/server.ts';
import { startNode } from './cluster.ts';
import { receive } from './receiver.ts';

describe('a commit that was lost in a crash of the database', () => {
  it('is not reported as done, although another transaction reuses its transaction id', async () => {
    // The WAL is not written before a commit, so the crash undoes the whole transaction.
    const settings = { wal_writer_delay: '10s', autovacuum: 'off' };
    await using postgres = await startPostgres({ settings });
    const url = await postgres.createDatabase('ringback');
    await using proxy = await startProxy(url);
    await using node = await startNode({ url: proxy.url, name: 'node', role: 'api' });
    let editing: number | undefined;
    const held = proxy.hold('before', (message) => {
      if (/insert into subscription/.test(message.sql ?? '')) editing = message.connection;
      return message.connection === editing && asksToCommit(message);
    });
    await using receiver = await receive();
    const body = { callbackUrl: receiver.url };
    const headers = { 'idempotency-key': 'once' };
    const call = { method: 'POST', path: '/subscribe', headers, body };
    const answering = node.call(call);
    await held;
    await postgres.kill();
    await postgres.start();
    await using database = openDatabase(url);
    for (let i = 0; i < 50; i += 1) await database.query('select pg_current_xact_id()');
    proxy.resume();
    const answer = await answering;
    assert.deepEqual(await database.query('select from ringback.subscription'), []);
    assert.equal(answer.status, 503, answer.text);
    const again = await node.call(call);
    assert.equal(again.status, 201, again.text);
    assert.equal((await database.query('select from ringback.subscription')).length, 1);
  });
});
