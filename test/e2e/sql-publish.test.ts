import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Client, Pool } from 'pg';
import { limits } from '../../src/core/limits/limits.ts';
import { start } from '../api/harness.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { subjectStore } from '../subject-store.ts';
import { startNodes, type ClusterNode } from './cluster.ts';
import { header, receive, type Receiver } from './receiver.ts';
import { get, subscribe, until } from './stage.ts';

interface Two extends AsyncDisposable {
  database: Database;
  first: ClusterNode;
  second: ClusterNode;
}

async function two(): Promise<Two> {
  await using cleanup = new AsyncDisposableStack();
  const database = cleanup.use(await freshDatabase());
  const nodes = await startNodes(database.url, { first: 'all', second: 'all' });
  const [first, second] = nodes.map((node) => cleanup.use(node));
  assert(first && second);
  const running = cleanup.move();
  const dispose = async (): Promise<void> => running.disposeAsync();
  return { database, first, second, [Symbol.asyncDispose]: dispose };
}

/** A receiver of all events, or of one, until it is disposed of. */
async function hear(node: ClusterNode, event?: string, customer?: string): Promise<Receiver> {
  const receiver = await receive();
  const callbackUrl = receiver.url;
  const controls = { events: event === undefined ? ['*'] : [event], customer };
  const { id } = await subscribe(node, { body: { callbackUrl, 'x-ringback': controls } });
  return {
    ...receiver,
    [Symbol.asyncDispose]: async () => {
      await node.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** Publishes by SQL in a separate transaction, as any program would. */
async function publishBySql(database: Database, ...values: unknown[]): Promise<string> {
  const places = values.map((_, at) => `$${at + 1}`).join(', ');
  const [row] = await database.query(`select ringback.publish(${places}) as id`, values);
  return String(row?.['id']);
}

/** Waits until the inbox is empty and all deliveries have ended. */
async function isQuiet(database: Database): Promise<void> {
  const left = `select (select count(*)::int from ringback.inbox)
    + (select count(*)::int from ringback.delivery_live) as count`;
  await until(
    async () => database.query(left),
    ([row]) => row?.['count'] === 0,
  );
}

const misspelled = { event: 'parcel.snt', payload: { message: 'm' } };

interface EventView {
  id: string;
  event: string;
  deliveries: number | null;
  rejected?: string;
}

describe('ringback.publish()', () => {
  let stage: Two;
  before(async () => {
    stage = await two();
  });
  after(async () => stage[Symbol.asyncDispose]());

  it('sends committed events once, and nothing that was rolled back', async () => {
    const { database, first, second } = stage;
    await using all = await hear(first);
    await using orders = await hear(second, 'order.created');
    await using filtered = await receive();
    const filter = { '/message': 'order 8' };
    await subscribe(second, { body: { callbackUrl: filtered.url, 'x-ringback': { filter } } });
    await database.query('create table orders (no integer primary key)');
    const pool = new Pool({ connectionString: database.url, max: 8 });
    const order = async (no: number): Promise<void> => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await client.query('insert into orders values ($1)', [no]);
        await client.query('select ringback.publish($1, $2::text)', [
          'order.created',
          `{"message":"order ${no}"}`,
        ]);
        await client.query(no % 2 === 0 ? 'commit' : 'rollback');
      } finally {
        client.release();
      }
    };
    await Promise.all(Array.from({ length: 400 }, async (_, no) => order(no)));
    await pool.end();

    await all.waitFor(200);
    await orders.waitFor(200);
    await isQuiet(database);
    const kept = await database.query('select no from orders order by no');
    const expected = kept.map(({ no }) => `{"message":"order ${String(no)}"}`).toSorted();
    assert.equal(expected.length, 200);
    for (const receiver of [all, orders]) {
      const bodies = receiver.requests.map(({ body }) => body.toString());
      assert.deepEqual(bodies.toSorted(), expected, 'exactly the committed events, each once');
    }
    assert.deepEqual(
      filtered.requests.map(({ body }) => body.toString()),
      ['{"message":"order 8"}'],
    );
    const rows = await database.query('select count(*)::int as count from ringback.event');
    assert.deepEqual(rows, [{ count: 200 }]);
  });

  it('marks an event with an invalid payload as rejected, and does not deliver it', async () => {
    await using receiver = await hear(stage.first);
    const bad = await publishBySql(stage.database, 'order.created', '{"text":"no message"}');
    const good = await publishBySql(stage.database, 'order.created', '{"message":"good"}');
    await receiver.waitFor(1);
    await isQuiet(stage.database);
    assert.deepEqual(
      receiver.requests.map((request) => header(request, 'webhook-id')),
      [good],
    );
    const event = await get<EventView>(stage.second, `/events/${bad}`);
    assert.equal(event.deliveries, 0);
    assert.match(event.rejected ?? '', /message/);
    const fine = await get<EventView>(stage.second, `/events/${good}`);
    assert.deepEqual([fine.deliveries, fine.rejected], [1, undefined]);
  });

  it('is checked by the event types of the app, whichever node they were declared on', async () => {
    const { database, first, second } = stage;
    const path = '/event-types/parcel.sent';
    const schema = { type: 'object', required: ['parcel'] };
    const declared = await first.call({ method: 'PUT', path, body: { schema } });
    assert.equal(declared.status, 201, declared.text);
    // The other node has read the key, and so that there are types, at most a second ago.
    await until(
      async () => second.call({ method: 'POST', path: '/events', body: misspelled }),
      ({ status }) => status === 422,
    );
    await using receiver = await hear(first, 'parcel.sent');
    const ids = [
      await publishBySql(database, 'parcel.sent', '{"parcel":1}'),
      await publishBySql(database, 'parcel.sent', '{"message":"m"}'),
      await publishBySql(database, 'parcel.snet', '{"message":"m"}'),
    ];
    await receiver.waitFor(1);
    await isQuiet(database);
    const events = await Promise.all(
      ids.map(async (id) => get<EventView>(second, `/events/${id}`)),
    );
    assert.deepEqual(
      events.map(({ rejected }) => rejected),
      [
        undefined,
        'The payload violates the contract: body#/payload/parcel is required (event type "parcel.sent")',
        'Cannot publish event "parcel.snet": did you mean "parcel.sent"?',
      ],
    );
    assert.equal(receiver.requests.length, 1);
    await first.call({ method: 'DELETE', path });
  });

  it('reaches only subscriptions of the named customer', async () => {
    const { database, first, second } = stage;
    await using none = await hear(first, 'invoice.sent');
    await using one = await hear(first, 'invoice.sent', 'cus_1');
    await using other = await hear(second, 'invoice.sent', 'cus_2');
    const payload = '{"message":"m"}';
    const ids = [
      await publishBySql(database, 'invoice.sent', payload, null, null, null, 'cus_1'),
      await publishBySql(database, 'invoice.sent', payload, null, null, null, 'cus_2'),
      await publishBySql(database, 'invoice.sent', payload),
    ];
    // Only the owner of the schema can write past the function, which refuses this customer.
    await database.query(
      `insert into ringback.inbox (id, app, name, customer, payload, created_ms)
      select ringback.make_id(floor(extract(epoch from now()) * 1000)::bigint), no, 'invoice.sent', repeat('c', 129), $1, 1
      from ringback.app where name = 'default'`,
      [Buffer.from(payload)],
    );
    await Promise.all([none.waitFor(1), one.waitFor(2), other.waitFor(2)]);
    await isQuiet(database);
    const came = [one, other, none].map(({ requests }) =>
      requests
        .map((request) => ids.indexOf(header(request, 'webhook-id')))
        .toSorted((a, b) => a - b),
    );
    assert.deepEqual(came, [[0, 2], [1, 2], [2]]);
    const { items } = await get<{ items: EventView[] }>(second, '/events?customer=cus_1');
    assert.deepEqual(
      items.map(({ id }) => id),
      [ids[0]],
    );
    const [bad] = await database.query('select rejected from ringback.event where rejected ~ $1', [
      '^Cannot publish event "invoice.sent": its customer is not a customer',
    ]);
    assert.ok(bad);
  });

  it('deduplicates by idempotency key, and rejects a key reused for another event', async () => {
    await using receiver = await hear(stage.first);
    const publishing = ['order.created', '{"message":"once"}', 'key 1'];
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => publishBySql(stage.database, ...publishing)),
    );
    assert.equal(new Set(ids).size, 1);
    const other = publishBySql(stage.database, 'order.created', '{"message":"other"}', 'key 1');
    await assert.rejects(other, /its idempotency key was used for another event/);
    await receiver.waitFor(1);
    await isQuiet(stage.database);
    assert.equal(receiver.requests.length, 1);
  });

  it('only reaches subscriptions of the named app', async () => {
    const { database, first, second } = stage;
    const made = await first.call({ method: 'POST', path: '/apps', body: { name: 'shop' } });
    assert.equal(made.status, 201, made.text);
    const key = String(made.json['key']);
    await using ours = await hear(first);
    await using theirs = await receive();
    const answer = await second.call({
      method: 'POST',
      path: '/subscribe',
      key,
      body: { callbackUrl: theirs.url },
    });
    assert.equal(answer.status, 201, answer.text);
    const payload = '{"message":"for the shop"}';
    const byName = await publishBySql(database, 'order.created', payload, null, 'shop');
    const appId = String(made.json['id']);
    const byId = await publishBySql(database, 'order.created', payload, null, appId);
    await theirs.waitFor(2);
    await isQuiet(database);
    const came = theirs.requests.map((request) => header(request, 'webhook-id'));
    assert.deepEqual(came.toSorted(), [byName, byId].toSorted());
    assert.equal(ours.requests.length, 0);
    const unknown = publishBySql(database, 'order.created', payload, null, 'nobody');
    await assert.rejects(unknown, /there is no app "nobody"/);
  });

  it('needs an explicit grant', async () => {
    const { database } = stage;
    await using receiver = await hear(stage.first);
    const role = `ringback_test_${randomBytes(6).toString('hex')}`;
    await database.query(`create role ${role} login password 'plain-password'`);
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'plain-password' });
    const client = new Client({ connectionString: url.href });
    await client.connect();
    try {
      const publish = async (): Promise<unknown> =>
        client.query(`select ringback.publish('order.created', '{"message":"hello"}'::text)`);
      await assert.rejects(publish(), /permission denied/);
      await database.query(`grant usage on schema ringback to ${role}`);
      await assert.rejects(publish(), /permission denied/);
      const signature = 'ringback.publish(text, text, text, text, text, text)';
      await database.query(`grant execute on function ${signature} to ${role}`);
      await assert.rejects(publish(), /was not granted any app/);
      await database.query(`select ringback.grant_publish('${role}', 'default')`);
      await publish();
      await receiver.waitFor(1);
      for (const table of ['event', 'inbox', 'idem', 'app', 'key', 'subscription']) {
        await assert.rejects(client.query(`select * from ringback.${table}`), /permission denied/);
      }
    } finally {
      await client.end();
      await database.query(`drop owned by ${role}`);
      await database.query(`drop role ${role}`);
    }
  });

  it('delivers a large payload byte for byte', async () => {
    await using receiver = await hear(stage.second);
    const piece = '{"z":9007199254740993, "\\u0061":1.0,  "a":1e2, "ü":"✓ \\ud83d\\ude00"},';
    const many = piece.repeat(Math.floor(900_000 / Buffer.byteLength(piece)) >> 2);
    const payload = `{ "message":"large", "pieces":[${many}null] , "pad":"${'x'.repeat(600_000)}" }`;
    const id = await publishBySql(stage.database, 'order.created', payload);
    await receiver.waitFor(1);
    const [request] = receiver.requests;
    assert(request);
    assert.equal(header(request, 'webhook-id'), id);
    assert.ok(request.body.equals(Buffer.from(payload)), 'the bytes are the same');
  });
});

describe('an event with a subject, published by SQL', () => {
  it('reaches its subscriptions and those without one, and confirms what it names', async () => {
    await using database = await freshDatabase();
    const { openStore, adding } = subjectStore();
    await using service = await start({ env: { DATABASE_URL: database.url }, openStore });
    await using receiver = await receive();
    const event = 'job.done';
    const subscribeTo = async (subject?: string, confirmByMs?: number): Promise<string> => {
      Object.assign(adding, { subject, confirmByMs });
      const { id } = await subscribe(service, {
        callbackUrl: `${receiver.url}/${subject ?? 'all'}`,
        event,
      });
      return id;
    };
    await subscribeTo('job_17');
    await subscribeTo('job_18');
    await subscribeTo();
    const unconfirmed = await subscribeTo('job_19', Date.now() + limits.confirmWithinMs);
    const subjects = ['job_17', 'job_19', 'job_20'];
    const ids: string[] = [];
    for (const subject of [...subjects, null]) {
      ids.push(await publishBySql(database, event, '{"message":"m"}', null, null, subject));
    }
    await receiver.waitFor(5);
    await isQuiet(database);
    const came = receiver.requests.map((request) => {
      const [, at] = /(\w+)\?/.exec(request.url) ?? [];
      return `${subjects[ids.indexOf(header(request, 'webhook-id'))]} at ${at}`;
    });
    assert.deepEqual(came.toSorted(), [
      'job_17 at all',
      'job_17 at job_17',
      'job_19 at all',
      'job_19 at job_19',
      'job_20 at all',
    ]);
    const { state } = await get<{ state: string }>(service, `/subscriptions/${unconfirmed}`);
    assert.equal(state, 'active');
    const events = await Promise.all(
      ids.map(async (id) => get<EventView & { subject?: string }>(service, `/events/${id}`)),
    );
    assert.deepEqual(
      events.map(({ subject }) => subject),
      [...subjects, undefined],
    );
    const reason = 'subscriptions to it have a subject, and the event names none';
    assert.deepEqual(
      events.map(({ rejected }) => rejected),
      [
        ...subjects.map(() => undefined),
        `Cannot publish event "job.done": ${reason}. Name its subject`,
      ],
    );
  });
});
