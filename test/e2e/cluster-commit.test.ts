import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { freshDatabase, openDatabase } from '../postgres/database.ts';
import {
  asksToCommit,
  hasCommitted,
  startProxy,
  type Matches,
  type Passing,
  type PostgresProxy,
  type When,
} from '../postgres/proxy.ts';
import { startPostgres } from '../postgres/server.ts';
import { startNode, type ClusterNode } from './cluster.ts';
import { header, receive, type Receiver } from './receiver.ts';
import { subscribe, until } from './stage.ts';
import { inTime } from './tally.ts';

/** Publishes under one key until it is accepted. Gives the refusals on the way. */
async function insist(node: ClusterNode, number: number): Promise<{ id: string; refused: number }> {
  for (let refused = 0; ; refused += 1) {
    const answer = await node.call({
      method: 'POST',
      path: '/events',
      headers: { 'idempotency-key': `number ${number}` },
      body: { event: 'order.created', payload: { message: String(number) } },
    });
    if (answer.status === 202) return { id: String(answer.json['eventId']), refused };
    assert.equal(answer.status, 503, answer.text);
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
    await wait(20);
  }
}

/** Every number came once, as one event, and no other event is there. */
async function cameOnce(
  receiver: Receiver,
  ids: readonly string[],
  node: ClusterNode,
): Promise<void> {
  await receiver.waitFor(ids.length);
  const { items } = await until(
    async () => (await node.call({ path: '/deliveries?state=due&limit=500' })).json,
    (page) => Array.isArray(page['items']) && page['items'].length === 0,
  );
  assert.deepEqual(items, []);
  const came = receiver.requests.map((request) => header(request, 'webhook-id'));
  assert.deepEqual(came.toSorted(), ids.toSorted(), 'each event came once');
  const numbers = receiver.requests.map(({ body }) => body.toString());
  assert.equal(new Set(numbers).size, ids.length, 'no number came as two events');
}

describe('a publish whose connection to the database is cut', () => {
  it('at the commit is one event, however often it is repeated', async (t) => {
    await using database = await freshDatabase();
    await using proxy = await startProxy(database.url);
    await using node = await startNode({ url: proxy.url, name: 'node' });
    await using receiver = await receive();
    await subscribe(node, receiver.url);
    const cuts: [string, When, Matches][] = [
      ['before the server got it', 'before', asksToCommit],
      ['after the server got it', 'after', asksToCommit],
      ['after it was done', 'before', hasCommitted],
    ];
    const ids: string[] = [];
    let refusals = 0;
    for (let round = 0; round < 5; round += 1) {
      for (const [, when, matches] of cuts) {
        // The commit of a transaction that makes an event, not of some other one.
        const cut = cutPublish(proxy, when, matches);
        const { id, refused } = await insist(node, ids.length);
        await inTime(cut, 10_000, () => 'the commit was not cut');
        refusals += refused;
        ids.push(id);
      }
    }
    const rows = await database.query('select count(*)::int as count from ringback.event');
    assert.deepEqual(rows, [{ count: ids.length }]);
    await cameOnce(receiver, ids, node);
    t.diagnostic(`${ids.length} commits were cut, ${refusals} answers were refusals`);
    assert.ok(refusals > 0, 'a commit that did not happen is refused');
    assert.ok(refusals < ids.length, 'one that happened is found out');
  });

  it('at any message is one event', async (t) => {
    await using database = await freshDatabase();
    await using proxy = await startProxy(database.url);
    // It only publishes: nothing else is said on the connection that edits have.
    await using api = await startNode({ url: proxy.url, name: 'api', role: 'api' });
    await using worker = await startNode({ url: database.url, name: 'worker', role: 'worker' });
    await using receiver = await receive();
    await subscribe(api, receiver.url);
    const ids: string[] = [];
    const publish = async (): Promise<number> => {
      const { id, refused } = await insist(api, ids.length);
      ids.push(id);
      return refused;
    };
    let refusals = 0;
    const cutAt = async (side: Passing['side'], when: When): Promise<number> => {
      for (let k = 1; ; k += 1) {
        await publish(); // The connection is there, and its statements are prepared.
        const cut = proxy.cut(when, kthOfPublish(side, k));
        refusals += await publish();
        const wasCut = await Promise.race([cut, wait(50, undefined)]);
        proxy.forget();
        if (wasCut === undefined) return k - 1;
      }
    };
    const messages = {
      beforeFrontend: await cutAt('frontend', 'before'),
      afterFrontend: await cutAt('frontend', 'after'),
      beforeBackend: await cutAt('backend', 'before'),
    };
    t.diagnostic(`${JSON.stringify(messages)} cuts, ${refusals} answers were refusals`);
    assert.ok(Math.min(...Object.values(messages)) >= 10, 'a publish takes some messages');
    const rows = await database.query('select count(*)::int as count from ringback.event');
    assert.deepEqual(rows, [{ count: ids.length }]);
    await cameOnce(receiver, ids, api);
    assert.equal(worker.err(), '', 'the other node noticed nothing');
  });
});

describe('a commit that a crash of the database undid', () => {
  it('is not taken for done, though its number was given to another transaction', async () => {
    // Nothing is written down before a commit asks for it: so the crash undoes all of it.
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

/** Cuts at the commit of the next transaction that makes an event. */
async function cutPublish(proxy: PostgresProxy, when: When, matches: Matches): Promise<Passing> {
  let publishing: number | undefined;
  return proxy.cut(when, (message) => {
    if (/insert into event /.test(message.sql ?? '')) publishing = message.connection;
    return message.connection === publishing && matches(message);
  });
}

/** The k-th message of a side, counted from the beginning of the next edit. */
function kthOfPublish(side: Passing['side'], k: number): Matches {
  let editing: number | undefined;
  let seen = 0;
  return (message) => {
    if (editing === undefined && /^begin$/.test(message.sql ?? '')) editing = message.connection;
    if (message.connection !== editing || message.side !== side) return false;
    seen += 1;
    return seen === k;
  };
}
