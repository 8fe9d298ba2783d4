// Statements of one turn of the event loop, on a real server: they are sent together and fail together.
import { strict as assert } from 'node:assert';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Client } from 'pg';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import {
  flushResponses,
  pipelineQuery,
  sendText,
} from '../../src/store/postgres/connection/pipeline.ts';
import type { Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { until } from './postgres-stage.ts';

let database: Database;
let client: Client;
let other: Client;
const open = async (): Promise<Client> => {
  const onLost = (): void => undefined;
  const { url } = database;
  return connect({ url, kind: 'engine', purpose: 'test', pipeline: true, onLost });
};

before(async () => {
  database = await freshStoreDatabase();
  await database.query('create table ringback.kept (x int primary key)');
});
beforeEach(async () => {
  await database.query('delete from ringback.kept');
  client = await open();
  other = await open();
});
afterEach(async () => {
  await Promise.all([client.end(), other.end()]);
});
after(async () => database[Symbol.asyncDispose]());

const keep = 'insert into kept select x from unnest($1::int[]) as x';
const kept = async (): Promise<unknown[]> =>
  (await database.query('select x from ringback.kept order by x')).map(({ x }) => x);
const fails = /division by zero/;

/** Counts the Sync messages. */
function countSyncs(): { syncs: number } {
  const count = { syncs: 0 };
  const { connection } = client;
  const sync = connection.sync.bind(connection);
  connection.sync = () => {
    count.syncs += 1;
    sync();
  };
  return count;
}

describe('a packet', () => {
  it('contains the statements of one turn, and each gets its result', async () => {
    const count = countSyncs();
    const both = 'select x, $2::text as y from unnest($1::int[]) as x order by x';
    const answers = await Promise.all([
      pipelineQuery(client, both, [[1, 2], 'a']),
      pipelineQuery(client, keep, [[7]]),
      pipelineQuery(client, 'select from kept where x = 8', []),
      pipelineQuery(client, both, [[3], null]),
    ]);
    assert.deepEqual(answers, [
      [
        { x: 1, y: 'a' },
        { x: 2, y: 'a' },
      ],
      [],
      [],
      [{ x: 3, y: null }],
    ]);
    assert.equal(count.syncs, 1);
    assert.deepEqual(await pipelineQuery(client, both, [[4], 'b']), [{ x: 4, y: 'b' }]);
    assert.equal(count.syncs, 2);
  });

  it('is atomic outside of a transaction', async () => {
    const asked = [
      pipelineQuery(client, keep, [[1]]),
      pipelineQuery(client, 'select 1 / $1::int as x', [0]),
    ];
    for (const each of asked) await assert.rejects(each, fails);
    assert.deepEqual(await kept(), []);
    await pipelineQuery(client, keep, [[2]]);
    assert.deepEqual(await kept(), [2]);
  });

  it('that failed does not break its prepared statements', async () => {
    const late = 'select $1::text as late';
    const first = 'select 2 / $1::int as first';
    const asked = [pipelineQuery(client, first, [0]), pipelineQuery(client, late, ['x'])];
    for (const each of asked) await assert.rejects(each, fails);
    assert.deepEqual(await pipelineQuery(client, late, ['y']), [{ late: 'y' }]);
    assert.deepEqual(await pipelineQuery(client, first, [2]), [{ first: 1 }]);
    await assert.rejects(pipelineQuery(client, first, [0]), fails);
    assert.deepEqual(await pipelineQuery(client, first, [1]), [{ first: 2 }]);
  });

  it('with an unreadable row fails, but the next one succeeds', async () => {
    const large = 'select x::bigint as large from unnest($1::text[]) as x';
    await assert.rejects(pipelineQuery(client, large, [['1', '9007199254740993']]), /safe integer/);
    assert.deepEqual(await pipelineQuery(client, large, [['9007199254740991']]), [
      { large: Number.MAX_SAFE_INTEGER },
    ]);
  });

  it('fails when the connection breaks', async () => {
    const asked = pipelineQuery(client, 'select pg_terminate_backend(pg_backend_pid())', []);
    await assert.rejects(asked, /terminat/);
    await assert.rejects(pipelineQuery(client, 'select 1 as x', []));
  });

  it('may be answered in part while the rest is pending', async () => {
    await sendText(other, 'begin');
    await pipelineQuery(other, keep, [[1]]);
    await sendText(client, 'begin');
    const count = countSyncs();
    const soon = [
      pipelineQuery(client, 'select 4 as x', []),
      pipelineQuery(client, 'select 5 as x', []),
    ];
    flushResponses(client);
    const late = pipelineQuery(client, keep, [[1]]);
    assert.deepEqual(await Promise.all(soon), [[{ x: 4 }], [{ x: 5 }]]);
    const waits = `select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await until(async () => (await database.query(waits)).length === 1);
    await sendText(other, 'rollback');
    assert.deepEqual(await late, []);
    assert.equal(count.syncs, 1);
    await sendText(client, 'commit');
    assert.deepEqual(await kept(), [1]);
  });
});

describe('the end of a transaction', () => {
  it('is sent after the statements of the same turn', async () => {
    await sendText(client, 'begin');
    const asked = pipelineQuery(client, keep, [[1]]);
    assert.equal((await sendText(client, 'commit')).command, 'COMMIT');
    await asked;
    assert.deepEqual(await kept(), [1]);
  });

  it('rolls back if a statement has failed in between', async () => {
    await sendText(client, 'begin');
    const asked = [
      pipelineQuery(client, keep, [[1]]),
      pipelineQuery(client, 'select 1 / $1::int as x', [0]),
    ];
    const ended = sendText(client, 'commit');
    for (const each of asked) await assert.rejects(each, fails);
    assert.equal((await ended).command, 'ROLLBACK');
    assert.deepEqual(await kept(), []);
  });
});
