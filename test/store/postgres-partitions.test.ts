// Daily partitions on a real PostgreSQL: creating, dropping and keeping them, with concurrent transactions.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Client } from 'pg';
import { firstIdAt } from '../../src/core/base/id.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { failureKind } from '../../src/store/postgres/connection/failure.ts';
import {
  dropPartitionsBefore,
  ensurePartitions,
} from '../../src/store/postgres/schema/partitions.ts';
import type { Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';

const dayMs = 24 * 60 * 60 * 1000;
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
const oldMs = todayMs - 40 * dayMs;
const tables = ['attempt', 'delivery_done', 'event', 'response'];

describe('ensurePartitions', () => {
  it('creates the four partitions of each day, once', async () => {
    await using stage = await setUp();
    const span = { fromMs: oldMs, toMs: oldMs + dayMs };
    assert.equal(await ensurePartitions(stage.client, span), 8);
    assert.equal(await ensurePartitions(stage.client, span), 0);
    assert.deepEqual(await statesOf(stage, oldMs), attached);
    await insertEvent(stage, oldMs);
    assert.equal((await indexesOn(stage, oldMs)).length, 4, 'a partition has the indexes');
  });

  it('is safe when several nodes do it at once', async () => {
    await using stage = await setUp();
    const clients = await Promise.all([1, 2, 3].map(async () => stage.another()));
    const span = { fromMs: oldMs, toMs: oldMs + 2 * dayMs };
    const made = await Promise.all(clients.map(async (each) => ensurePartitions(each, span)));
    assert.equal(
      made.reduce((sum, each) => sum + each),
      12,
    );
  });

  it('does not wait for a transaction that writes', async () => {
    await using stage = await setUp();
    const writer = await stage.another();
    await writer.query('begin');
    await insertEvent({ client: writer }, todayMs);
    assert.equal(await ensurePartitions(stage.client, { fromMs: oldMs, toMs: oldMs }), 4);
    await writer.query('commit');
  });

  it('is called for a row of a day without partitions', async () => {
    await using stage = await setUp();
    await assert.rejects(insertEvent(stage, oldMs), (error) => {
      assert.equal(failureKind(error), 'missing_partition');
      return true;
    });
    const nameless = `insert into event values ($1, 1, '', 1, 0, 0, '')`;
    await assert.rejects(stage.client.query(nameless, [firstIdAt(todayMs)]), (error) => {
      assert.equal(failureKind(error), 'item');
      return true;
    });
    await ensurePartitions(stage.client, { fromMs: oldMs, toMs: oldMs });
    await insertEvent(stage, oldMs);
  });

  it('restores a half-dropped day', async () => {
    await using stage = await withOldDay();
    await leaveDetaching(stage, 'delivery_done');
    await detachPlainly(stage, 'attempt');
    assert.deepEqual(await statesOf(stage, oldMs), {
      ...attached,
      delivery_done: 'detaching',
      attempt: 'detached',
    });
    assert.equal(await ensurePartitions(stage.client, { fromMs: oldMs, toMs: oldMs }), 2);
    assert.deepEqual(await statesOf(stage, oldMs), attached);
    assert.equal(await countOf(stage, 'delivery_done'), 1);
    assert.equal(await countOf(stage, 'attempt'), 1);
  });

  it('restores a day whose table has got columns meanwhile', async () => {
    await using stage = await withOldDay();
    await detachPlainly(stage, 'attempt');
    const name = `attempt_${nameOf(oldMs)}`;
    await stage.client.query(`alter table ${name} drop column head, drop column body`);
    assert.equal(await ensurePartitions(stage.client, { fromMs: oldMs, toMs: oldMs }), 1);
    assert.deepEqual(await statesOf(stage, oldMs), attached);
    const { rows } = await stage.client.query('select head, body from attempt');
    assert.deepEqual(rows, [{ head: null, body: null }]);
  });
});

describe('dropPartitionsBefore', () => {
  it('drops whole days, all four tables of each', async () => {
    await using stage = await withOldDay();
    await ensurePartitions(stage.client, { fromMs: oldMs + dayMs, toMs: oldMs + 2 * dayMs });
    assert.equal(await dropPartitionsBefore(stage.client, oldMs + dayMs - 1), 0);
    assert.equal(await dropPartitionsBefore(stage.client, oldMs + 2 * dayMs), 8);
    assert.deepEqual(await statesOf(stage, oldMs), {});
    assert.deepEqual(await statesOf(stage, oldMs + dayMs), {});
    assert.deepEqual(await statesOf(stage, oldMs + 2 * dayMs), attached);
    assert.equal(await countOf(stage, 'event'), 0);
  });

  it('keeps a day while a delivery or a fan-out of it is pending', async () => {
    await using stage = await withOldDay();
    const beforeMs = oldMs + dayMs;
    const id = firstIdAt(beforeMs - 1);
    for (const table of ['delivery_live', 'fanout']) {
      await insertPending(stage, table, id);
      assert.equal(await dropPartitionsBefore(stage.client, beforeMs), 0, table);
      assert.deepEqual(await statesOf(stage, oldMs), attached);
      assert.equal(await countOf(stage, 'event'), 1);
      await stage.client.query(`delete from ${table}`);
    }
    await insertPending(stage, 'delivery_live', firstIdAt(beforeMs)); // An event of the next day.
    assert.equal(await dropPartitionsBefore(stage.client, beforeMs), 4);
  });

  it('does not block publishes while it waits for a transaction on the table', async () => {
    await using stage = await withOldDay();
    const [reader, writer] = [await stage.another(), await stage.another()];
    await reader.query('begin');
    await reader.query('select count(*) from event');
    await reader.query('select count(*) from delivery_done');
    const dropping = dropPartitionsBefore(stage.client, oldMs + dayMs);
    await until(async () => Object.values(await statesOf(stage, oldMs)).includes('detaching'));
    for (const hour of [1, 2, 3]) await insertEvent({ client: writer }, todayMs + hour);
    await writer.query('select count(*) from event');
    await reader.query('commit');
    assert.equal(await dropping, 4);
  });

  it('keeps a day of which a delivery is retried at the same time', async () => {
    await using stage = await withOldDay();
    const again = await stage.another();
    await again.query('begin');
    await again.query('delete from delivery_done');
    await insertPending({ client: again }, 'delivery_live', firstIdAt(oldMs));
    const dropping = dropPartitionsBefore(stage.client, oldMs + dayMs);
    await until(async () => (await statesOf(stage, oldMs))['delivery_done'] === 'detaching');
    await again.query('commit');
    assert.equal(await dropping, 0);
    assert.deepEqual(await statesOf(stage, oldMs), attached);
    assert.equal(await countOf(stage, 'event'), 1);
  });

  it('finishes a detach that was interrupted by a crash', async () => {
    await using stage = await withOldDay();
    await leaveDetaching(stage, 'event');
    await detachPlainly(stage, 'response');
    assert.equal(await dropPartitionsBefore(stage.client, oldMs + dayMs), 4);
    assert.deepEqual(await statesOf(stage, oldMs), {});
  });

  it('restores a half-dropped day if the retention was extended', async () => {
    await using stage = await withOldDay();
    await leaveDetaching(stage, 'event');
    assert.equal(await dropPartitionsBefore(stage.client, oldMs), 0);
    assert.deepEqual(await statesOf(stage, oldMs), attached);
    assert.equal(await countOf(stage, 'event'), 1);
  });

  it('is safe when several nodes do it at once', async () => {
    await using stage = await withOldDay();
    await ensurePartitions(stage.client, { fromMs: oldMs + dayMs, toMs: oldMs + 5 * dayMs });
    const clients = await Promise.all([1, 2, 3].map(async () => stage.another()));
    const beforeMs = oldMs + 6 * dayMs;
    await Promise.all(clients.map(async (each) => dropPartitionsBefore(each, beforeMs)));
    await dropPartitionsBefore(stage.client, beforeMs);
    for (const day of [0, 1, 2, 3, 4, 5]) {
      assert.deepEqual(await statesOf(stage, oldMs + day * dayMs), {});
    }
  });
});

const attached = Object.fromEntries(tables.map((table) => [table, 'attached']));

interface Stage extends AsyncDisposable {
  database: Database;
  client: Client;
  another: () => Promise<Client>;
}

async function setUp(): Promise<Stage> {
  const database = await freshStoreDatabase();
  const clients: Client[] = [];
  const another = async (): Promise<Client> => {
    const client = await connect({
      url: database.url,
      kind: 'schema',
      purpose: 'test',
      onLost: () => {},
    });
    clients.push(client);
    return client;
  };
  return {
    database,
    client: await another(),
    another,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map(async (client) => client.end()));
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A stage with an old day that has one delivered event. */
async function withOldDay(): Promise<Stage> {
  const stage = await setUp();
  await ensurePartitions(stage.client, { fromMs: oldMs, toMs: oldMs });
  await insertEvent(stage, oldMs);
  const id = firstIdAt(oldMs);
  const { client } = stage;
  await client.query('insert into delivery_done values ($1, 0, 1, 1, 1, 1, 1, 200, null, 1, 0)', [
    id,
  ]);
  await client.query('insert into attempt values ($1, 0, 1, 1, 0, 5, 200, null)', [id]);
  await client.query("insert into response values ($1, 0, 1, '{}', null)", [id]);
  return stage;
}

async function insertEvent({ client }: Pick<Stage, 'client'>, ms: number): Promise<void> {
  await client.query("insert into event values ($1, 1, 'a', 1, $2, 0, '')", [firstIdAt(ms), ms]);
}

async function insertPending(
  { client }: Pick<Stage, 'client'>,
  table: string,
  id: string,
): Promise<void> {
  const values =
    table === 'fanout' ? "($1, 1, 'c', 1, '[]')" : '($1, 0, 1, 1, 1, 0, 0, 0, 1, null)';
  await client.query(`insert into ${table} values ${values}`, [id]);
}

/** The state after a node was killed while waiting: the first half of the detach is committed. */
async function leaveDetaching(stage: Stage, table: string): Promise<void> {
  const [reader, killed] = [await stage.another(), await stage.another()];
  await reader.query('begin');
  await reader.query(`select count(*) from ${table}`);
  await killed.query("set lock_timeout = '50ms'");
  const sql = `alter table ${table} detach partition ${table}_${nameOf(oldMs)} concurrently`;
  await assert.rejects(killed.query(sql), { code: '55P03' });
  await reader.query('commit');
  assert.equal((await statesOf(stage, oldMs))[table], 'detaching');
}

async function detachPlainly({ client }: Stage, table: string): Promise<void> {
  await client.query(`alter table ${table} detach partition ${table}_${nameOf(oldMs)}`);
}

async function countOf({ client }: Stage, table: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(`select count(*) from ${table}`);
  return rows[0]?.count ?? -1;
}

/** The state of each table, read on a separate connection. */
async function statesOf({ database }: Stage, ms: number): Promise<Record<string, string>> {
  const rows = await database.query(
    `select relname, case when inhrelid is null then 'detached'
       when inhdetachpending then 'detaching' else 'attached' end as state
     from pg_class left join pg_inherits on inhrelid = pg_class.oid
     where relkind = 'r' and relname like '%\\_' || $1 order by relname`,
    [nameOf(ms)],
  );
  const states = rows.map(({ relname, state }) => [String(relname).slice(0, -9), String(state)]);
  return Object.fromEntries(states);
}

async function indexesOn({ database }: Stage, ms: number): Promise<unknown[]> {
  return database.query(
    `select from pg_inherits join pg_index on inhrelid = indexrelid
     where indrelid = ('ringback.event_' || $1)::regclass`,
    [nameOf(ms)],
  );
}

function nameOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10).replaceAll('-', '');
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let asked = 0; asked < 10_000; asked += 1) if (await isSo()) return;
  assert.fail('Cannot wait any longer: it did not come to be so');
}
