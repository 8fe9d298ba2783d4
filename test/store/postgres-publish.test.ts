// ringback.publish(): events that commit or roll back with the caller's transaction.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { Client } from 'pg';
import { firstIdAt, withoutPrefix } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { isCustomer, isEventName, isSubject } from '../../src/core/domain/pattern.ts';
import { idempotencyOf } from '../../src/engine/publish/idempotency.ts';
import type { Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';

const appId = '01jc4t6v8m3q5r7w9x1y2z3a4b';

describe('ringback.publish', () => {
  it('puts the event into the inbox, byte for byte, and returns its id', async () => {
    await using database = await setUp();
    const payload = '\t{"b":1, "a":12345678901234567890,"b":"\\u00e9 é 🐘\\/"} ';
    const beforeMs = Date.now();
    const id = await publish(database, ['order.created', payload]);
    const [row] = await database.query('select * from ringback.inbox');
    assert(row !== undefined);
    assert.equal(row['id'], id);
    assert.equal(row['app'], '1');
    assert.equal(row['name'], 'order.created');
    assert.deepEqual(row['payload'], Buffer.from(payload));
    assert.equal(row['taken_ms'], null);
    const createdMs = Number(row['created_ms']);
    assert(createdMs >= beforeMs && createdMs <= Date.now());
    assert(firstIdAt(createdMs) <= id && id < firstIdAt(createdMs + 1), 'the id contains the time');
  });

  it('generates ids that are unique, increase with time and keep the top random bit clear', async () => {
    await using database = await setUp();
    const rows = await database.query(
      `select id from (select ringback.make_id(i) as id, i from generate_series(1, 2000) as i) x
       order by i`,
    );
    const ids = rows.map(({ id }) => String(id));
    assert.deepEqual(ids, [...ids].sort());
    for (const id of ids) {
      assert.equal(withoutPrefix('evt', `evt_${id}`), id);
      assert.match(id.slice(10), /^[0-9a-f]/);
    }
    const [times, chances] = [ids.map((id) => id.slice(0, 10)), ids.map((id) => id.slice(10))];
    assert.equal(times[41], firstIdAt(42).slice(0, 10));
    assert.equal(new Set(chances).size, 2000);
    for (let place = 0; place < 16; place += 1) {
      const seen = new Set(chances.map((chance) => chance.charAt(place)));
      assert.equal(seen.size, place === 0 ? 16 : 32, `every character is used at ${place}`);
    }
  });

  it('accepts JSON values, too, and treats a literal as text', async () => {
    await using database = await setUp();
    await database.query(`select ringback.publish('a', '{"x":  1}')`);
    await database.query(`select ringback.publish('a', '{"x":  1}'::jsonb)`);
    await database.query(`select ringback.publish('a', '{"x":  1}'::json)`);
    await database.query(`select ringback.publish('a', payload => to_jsonb('text'::text))`);
    const rows = await database.query('select payload from ringback.inbox order by no');
    assert.deepEqual(
      rows.map(({ payload }) => String(payload)),
      ['{"x":  1}', '{"x": 1}', '{"x":  1}', '"text"'],
    );
  });

  it('finds the app by name or by id', async () => {
    await using database = await setUp();
    await database.query(
      `insert into ringback.app (id, name, created_ms) values (repeat('z', 26), 'other', 0)`,
    );
    await publish(database, ['a', '1', null, 'other']);
    await publish(database, ['a', '1', null, `app_${appId}`]);
    const rows = await database.query('select app from ringback.inbox order by no');
    assert.deepEqual(rows, [{ app: '2' }, { app: '1' }]);
  });

  it('takes a subject and a customer, in each form and in calls by position', async () => {
    await using database = await setUp();
    for (const type of ['text', 'json', 'jsonb']) {
      const named = `subject => 'job_1', customer => 'cus_1'`;
      await database.query(`select ringback.publish('a', '1'::${type}, ${named})`);
    }
    for (const owner of [
      `, 'job_2', 'cus_2'`,
      `, 'job_3'`,
      `, null, 'cus_4'`,
      ', null, null',
      '',
    ]) {
      await database.query(`select ringback.publish('a', '1', null, 'default'${owner})`);
    }
    const rows = await database.query('select subject, customer from ringback.inbox order by no');
    assert.deepEqual(
      rows.map(({ subject, customer }) => [subject, customer]),
      [
        ...Array.from({ length: 3 }, () => ['job_1', 'cus_1']),
        ['job_2', 'cus_2'],
        ['job_3', null],
        [null, 'cus_4'],
        [null, null],
        [null, null],
      ],
    );
  });

  it('leaves nothing behind when the transaction rolls back', async () => {
    await using database = await setUp();
    await database.query(`
      begin; select ringback.publish('a', '1', 'key'); rollback`);
    assert.deepEqual(await database.query('select from ringback.inbox'), []);
    assert.deepEqual(await database.query('select from ringback.idem'), []);
  });
});

describe('a refusal of ringback.publish', () => {
  it('applies to an invalid name, by the same rule as over HTTP', async () => {
    await using database = await setUp();
    for (const name of ['', 'a'.repeat(257), '😀'.repeat(257), 'a'.repeat(100_000)]) {
      assert(!isEventName(name));
      await refused(
        database,
        [name, '1'],
        /^Cannot publish event ".*": it is not an event name, expected/s,
      );
    }
    await refused(database, [null, '1'], /^Cannot publish event null: it is not an event name/);
    const names = [
      'a',
      'A-_9.b',
      'ringback',
      'ringbackx.a',
      'a..b',
      '*',
      'a.*',
      'ä',
      '\na',
      `a'"b`,
    ];
    for (const name of [...names, 'a'.repeat(256), '😀'.repeat(256)]) {
      assert(isEventName(name));
      await publish(database, [name, '1']);
    }
  });

  it("applies to names of Ringback's own events", async () => {
    await using database = await setUp();
    await refused(database, ['ringback.ping', '1'], /begins with "ringback.", which is reserved/);
  });

  it('applies to invalid JSON', async () => {
    await using database = await setUp();
    for (const payload of [
      '',
      ' ',
      '{',
      "{'a':1}",
      '{"a":1,}',
      'undefined',
      'NaN',
      '1 2',
      '"\n"',
    ]) {
      await refused(
        database,
        ['a', payload],
        /^Cannot publish event "a": its payload is not valid JSON/,
      );
    }
    await refused(database, ['a', '['.repeat(500_000)], /its payload is not valid JSON/);
    await refused(database, ['a', null], /its payload is null, expected JSON/);
  });

  it('applies to a payload over the limit of a request body', async () => {
    await using database = await setUp();
    const bytes = limits.bodyBytesMax;
    await publish(database, ['a', `"${'é'.repeat(bytes / 2 - 1)}"`]);
    await refused(
      database,
      ['a', `"${'é'.repeat(bytes / 2 - 1)}" `],
      new RegExp(`its payload has ${bytes + 1} bytes, expected at most ${bytes}`),
    );
  });

  it('applies to an unknown app', async () => {
    await using database = await setUp();
    for (const app of ['nobody', '', `app_${'0'.repeat(26)}`, appId]) {
      await refused(
        database,
        ['a', '1', null, app],
        /there is no app ".*", expected its name or its id/,
      );
    }
  });

  it('applies to an invalid subject or customer, by the same rule as over HTTP', async () => {
    await using database = await setUp();
    for (const [member, most, before, isValid] of [
      ['subject', limits.subjectCharsMax, [], isSubject],
      ['customer', limits.customerCharsMax, [null], isCustomer],
    ] as const) {
      for (const name of ['', 'c'.repeat(most + 1), '😀'.repeat(most + 1)]) {
        assert(!isValid(name));
        const reason = `its ${member} has \\d+ characters, expected 1 to ${most}$`;
        const message = new RegExp(`^Cannot publish event "a": ${reason}`);
        await refused(database, ['a', '1', null, null, ...before, name], message);
      }
      for (const name of ['c', ' ', '\n', `a'"b`, 'c'.repeat(most), '😀'.repeat(most)]) {
        assert(isValid(name));
        await publish(database, ['a', '1', null, null, ...before, name]);
      }
    }
  });

  it('applies to an idempotency key that is empty or too long', async () => {
    await using database = await setUp();
    const longest = limits.idempotencyKeyCharsMax;
    await publish(database, ['a', '1', 'é'.repeat(longest)]);
    for (const key of ['', 'k'.repeat(longest + 1)]) {
      await refused(
        database,
        ['a', '1', key],
        /its idempotency key has \d+ characters, expected 1 to/,
      );
    }
  });
});

describe('an idempotency key of ringback.publish', () => {
  it('returns the same event for a repetition, and refuses another event', async () => {
    await using database = await setUp();
    const id = await publish(database, ['a', '{"x":1}', 'key']);
    assert.equal(await publish(database, ['a', '{"x":1}', 'key']), id);
    await refused(
      database,
      ['a', '{"x": 1}', 'key'],
      /its idempotency key was used for another event/,
    );
    await refused(
      database,
      ['b', '{"x":1}', 'key'],
      /its idempotency key was used for another event/,
    );
    assert.notEqual(await publish(database, ['a', '{"x":1}', 'other']), id);
    assert.equal((await database.query('select from ringback.inbox')).length, 2);
  });

  it('stands for the subject and the customer, and tells them apart', async () => {
    await using database = await setUp();
    const owners = [
      [null, null],
      ['x', null],
      [null, 'x'],
      ['x', 'x'],
    ];
    for (const [at, owner] of owners.entries()) {
      const event = ['a', '1', `key ${at}`, null];
      const id = await publish(database, [...event, ...owner]);
      assert.equal(await publish(database, [...event, ...owner]), id);
      for (const other of owners.filter((one) => one !== owner)) {
        const message = /its idempotency key was used for another event/;
        await refused(database, [...event, ...other], message);
      }
    }
  });

  it('is stored as over HTTP, under a separate operation', async () => {
    await using database = await setUp();
    const event = ['a', '{"x":"é"}'];
    for (const [asked, owner, ownerParts] of [
      ['ключ', [null, null], []],
      ['другой', [null, 'cus_é'], ['', 'cus_é']],
      ['третий', ['job_é', null], ['job_é', '']],
    ] as const) {
      const id = await publish(database, [...event, asked, null, ...owner]);
      const parts = [...event, ...ownerParts];
      const { key, print } = idempotencyOf({ key: asked, operation: 'sql.publish', parts }, {});
      const stored = 'select app, key, print, result from ringback.idem where result = $1';
      const [row] = await database.query(stored, [id]);
      const [keyBytes, printBytes] = [Buffer.from(key), Buffer.from(print)];
      assert.deepEqual(row, { app: '1', key: keyBytes, print: printBytes, result: id });
    }
  });

  it('belongs to one app', async () => {
    await using database = await setUp();
    await database.query(
      `insert into ringback.app (id, name, created_ms) values (repeat('z', 26), 'other', 0)`,
    );
    const id = await publish(database, ['a', '1', 'key']);
    assert.notEqual(await publish(database, ['a', '1', 'key', 'other']), id);
  });

  it('can be reused after a day', async () => {
    await using database = await setUp();
    const id = await publish(database, ['a', '1', 'key']);
    const age = `update ringback.idem set created_ms = created_ms - $1`;
    await database.query(age, [limits.idempotencyKeepMs - 60_000]);
    assert.equal(await publish(database, ['a', '1', 'key']), id);
    await database.query(age, [60_001]);
    const next = await publish(database, ['b', '1', 'key']);
    assert.notEqual(next, id);
    assert.equal(await publish(database, ['b', '1', 'key']), next);
  });

  it('waits for an open transaction with the same key, and depends on its outcome', async () => {
    await using database = await setUp();
    for (const end of ['commit', 'rollback']) {
      const [first, second] = [await connected(database.url), await connected(database.url)];
      await first.query('begin');
      const id = idIn(await first.query(call, ['a', '1', end]));
      const waiting = second.query(call, ['a', '1', end]);
      await untilWaiting(database);
      await first.query(end);
      assert.equal(idIn(await waiting) === id, end === 'commit');
      await Promise.all([first.end(), second.end()]);
    }
    assert.equal((await database.query('select from ringback.inbox')).length, 2);
  });
});

describe('rights on ringback.publish', () => {
  it('must be granted, and allow nothing but publishing', async () => {
    await using database = await setUp();
    const name = `ringback_test_${randomBytes(6).toString('hex')}`;
    await database.query(`create role ${name} login password 'plain-password'`);
    const url = Object.assign(new URL(database.url), {
      username: name,
      password: 'plain-password',
    });
    const plain = await connected(url.href);
    try {
      const denied = { code: '42501' };
      await assert.rejects(plain.query(call, ['a', '1', null]), denied);
      await database.query(`grant usage on schema ringback to ${name}`);
      await assert.rejects(plain.query(call, ['a', '1', null]), denied);
      await database.query(
        `grant execute on function ringback.publish(text, text, text, text, text, text) to ${name}`,
      );
      await assert.rejects(plain.query(call, ['a', '1', 'key']), {
        ...denied,
        message: `Cannot publish event "a": the role "${name}" was not granted any app`,
        hint: `The owner of the schema grants it with: select ringback.grant_publish('${name}', 'default')`,
      });
      await database.query('insert into ringback.publisher (role, app) values ($1, 1)', [name]);
      await plain.query(call, ['a', '1', 'key']);
      await assert.rejects(plain.query("select ringback.publish('a', '1'::jsonb)"), denied);
      for (const sql of [
        'select from ringback.inbox',
        'select from ringback.idem',
        'select from ringback.app',
        "insert into ringback.inbox (id, app, name, payload, created_ms) values ('', 1, 'a', '', 0)",
        'select ringback.make_id(1)',
        'select from ringback.publisher',
        `select ringback.grant_publish('${name}', 'default')`,
        `select ringback.revoke_publish('${name}')`,
        'create table ringback.mine (no int)',
      ]) {
        await assert.rejects(plain.query(sql), denied, sql);
      }
      await database.query(
        `grant execute on function ringback.publish(text, jsonb, text, text, text, text) to ${name}`,
      );
      await plain.query("select ringback.publish('a', '1'::jsonb)");
    } finally {
      await plain.end();
      await database.query(`drop owned by ${name}`);
      await database.query(`drop role ${name}`);
    }
  });

  it('cannot be abused by objects that the caller creates', async () => {
    await using database = await setUp();
    await database.query(`
      create schema trap;
      create table trap.inbox (like ringback.inbox);
      create function trap.sha256(bytea) returns bytea language sql as 'select null::bytea';
      set search_path = trap, pg_catalog;
      create temp table inbox (like ringback.inbox);
      create temp table app (like ringback.app);
      select ringback.publish('a', '1', 'key')`);
    assert.equal((await database.query('select from ringback.inbox')).length, 1);
    assert.equal((await database.query('select from trap.inbox')).length, 0);
  });
});

const call = 'select ringback.publish($1, $2, $3) as id';

type Arguments = readonly (string | null)[];

async function setUp(): Promise<Database> {
  const database = await freshStoreDatabase();
  await database.query(
    `insert into ringback.app (id, name, created_ms) values ($1, 'default', 0)`,
    [appId],
  );
  return database;
}

/** Returns the id without its prefix. */
async function publish(database: Database, values: Arguments): Promise<string> {
  const places = values.map((_, index) => `$${index + 1}::text`).join();
  const [row] = await database.query(`select ringback.publish(${places}) as id`, values);
  const id = withoutPrefix('evt', String(row?.['id']));
  assert(id !== undefined);
  return id;
}

async function refused(database: Database, values: Arguments, message: RegExp): Promise<void> {
  const count = async (): Promise<number> =>
    (await database.query('select from ringback.inbox')).length;
  const before = await count();
  await assert.rejects(publish(database, values), { code: '22023', message });
  assert.equal(await count(), before);
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

function idIn({ rows: [row] }: { rows: { id: string }[] }): string | undefined {
  return row?.id;
}

async function untilWaiting(database: Database): Promise<void> {
  const waiting = `select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  for (let asked = 0; asked < 10_000; asked += 1) {
    if ((await database.query(waiting)).length > 0) return;
  }
  assert.fail('Cannot wait any longer: nobody waits for a lock');
}
