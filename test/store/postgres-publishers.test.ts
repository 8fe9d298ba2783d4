// Grants of ringback.publish() to roles, by app.
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Client } from 'pg';
import { applyMigrations } from '../../src/store/postgres/schema/apply-migrations.ts';
import { postgresMigrationsDir as migrationsDir } from '../../src/store/postgres/batch/adapter.ts';
import { freshDatabase, type Database } from '../postgres/database.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';

const nowMs = Date.UTC(2026, 10, 15, 12);
const denied = '42501';
const ids = { default: 'd'.repeat(26), shop: 's'.repeat(26) } as const;

describe('ringback.grant_publish', () => {
  it('allows a role to publish into that app only, by name or id', async () => {
    await using stage = await setUp();
    const role = await stage.role();
    await stage.owner.query(`select ringback.grant_publish('${role.name}', 'shop')`);
    assert.equal(await role.publish('shop'), 'shop');
    assert.equal(await role.publish(`app_${ids.shop}`), 'shop');
    for (const app of ['default', `app_${ids.default}`, 'none']) {
      assert.equal(await role.publish(app), denied, app);
    }
    assert.equal(await role.publishJson('shop'), 'shop');
    assert.equal(await role.publishJson('default'), denied);
  });

  it('makes the first granted app the default of a role', async () => {
    await using stage = await setUp();
    const role = await stage.role();
    await stage.owner.query(`select ringback.grant_publish('${role.name}', 'app_${ids.shop}')`);
    await stage.owner.query(`select ringback.grant_publish('${role.name}')`);
    assert.equal(await role.publish(null), 'shop');
    assert.equal(await role.publish('default'), 'default');
    assert.equal(await stage.publishAsOwner(null), 'default', 'the owner publishes into "default"');
    assert.equal(await stage.publishAsOwner('shop'), 'shop', 'the owner needs no grant');
  });

  it('refuses an app or a role that does not exist', async () => {
    await using stage = await setUp();
    const { name } = await stage.role();
    await assert.rejects(stage.owner.query(`select ringback.grant_publish('${name}', 'none')`), {
      message: 'Cannot grant the app "none": there is none, expected its name or its id',
    });
    await assert.rejects(stage.owner.query(`select ringback.grant_publish('${name}_x')`), {
      code: '42704',
    });
    assert.deepEqual(await stage.owner.query('select from ringback.publisher'), []);
  });

  it('applies to members of the role, while they are members', async () => {
    await using stage = await setUp();
    const [group, member] = [await stage.role(), await stage.role()];
    await stage.owner.query(`select ringback.grant_publish('${group.name}', 'shop')`);
    assert.equal(await member.publish('shop'), denied);
    await stage.owner.query(`grant ${group.name} to ${member.name}`);
    assert.deepEqual(
      [await member.publish('shop'), await member.publish(null), await member.publish('default')],
      ['shop', 'shop', denied],
    );
    await stage.owner.query(`revoke ${group.name} from ${member.name}`);
    assert.equal(await member.publish('shop'), denied);
  });

  it('applies to the current role of a session, not to the login role', async () => {
    await using stage = await setUp();
    const role = await stage.role();
    await stage.owner.query(`select ringback.grant_publish('${role.name}', 'shop')`);
    const asRole = `set role ${role.name}; select ringback.publish('a', '1', null, 'default')`;
    await assert.rejects(stage.owner.query(asRole), { code: denied });
  });

  it('for "public" applies to every role', async () => {
    await using stage = await setUp();
    const role = await stage.role();
    await stage.owner.query(`select ringback.grant_publish('public', 'shop')`);
    assert.deepEqual([await role.publish(null), await role.publish('default')], ['shop', denied]);
    await stage.owner.query(`select ringback.revoke_publish('public')`);
    assert.equal(await role.publish(null), denied);
  });
});

describe('ringback.revoke_publish', () => {
  it('revokes one app, and with the last one the right to call', async () => {
    await using stage = await setUp();
    const role = await stage.role();
    for (const app of ['default', 'shop']) {
      await stage.owner.query(`select ringback.grant_publish('${role.name}', '${app}')`);
    }
    await stage.owner.query(`select ringback.revoke_publish('${role.name}', 'default')`);
    assert.deepEqual([await role.publish('default'), await role.publish(null)], [denied, 'shop']);
    await stage.owner.query(`select ringback.revoke_publish('${role.name}')`);
    assert.equal(await role.publish('shop'), denied);
    const calls = `has_function_privilege('${role.name}', 'ringback.publish(text,text,text,text,text,text)',
      'execute')`;
    assert.deepEqual(await stage.owner.query(`select ${calls} as may`), [{ may: false }]);
  });

  it('ignores a dropped role', async () => {
    await using stage = await setUp();
    await stage.owner.query("insert into ringback.publisher (role, app) values ('gone_before', 1)");
    const role = await stage.role();
    await stage.owner.query(`select ringback.grant_publish('${role.name}', 'shop')`);
    assert.equal(await role.publish('default'), denied, 'a dropped role does not affect others');
    await stage.owner.query(`select ringback.revoke_publish('gone_before')`);
    const left = await stage.owner.query('select role from ringback.publisher');
    assert.deepEqual(left, [{ role: role.name }]);
  });
});

describe('the migration "publishers"', () => {
  it('grants only the app "default" to roles that could publish before', async () => {
    await using database = await databaseBefore('0019');
    await using stage = await setUp(database);
    const [before, never] = [await stage.role(), await stage.role()];
    await stage.owner.query(`grant usage on schema ringback to ${before.name}, ${never.name}`);
    await stage.owner.query(
      `grant execute on function ringback.publish(text, text, text, text) to ${before.name}`,
    );
    assert.equal(await before.publish('shop'), 'shop', 'any app, before the migration');
    await applyMigrations({ url: database.url, migrationsDir, nowMs });
    assert.deepEqual(
      [await before.publish(null), await before.publish('default'), await before.publish('shop')],
      ['default', 'default', denied],
    );
    assert.equal(await never.publish(null), denied);
  });
});

describe('the migration "sql_subject_customer"', () => {
  /** Who may execute which form of the function, by the type of its payload. */
  const granted = `
    select case grantee when 0 then 'public' else pg_get_userbyid(grantee) end as role,
      string_agg(format_type(proargtypes[1], null)
        || case when is_grantable then ' with grant option' else '' end, ', '
        order by proargtypes[1]) as may
    from pg_proc cross join lateral aclexplode(proacl)
    where pronamespace = 'ringback'::regnamespace and proname = 'publish' and grantee <> proowner
    group by grantee`;

  it('keeps who may execute which form of ringback.publish, and grants it to nobody else', async () => {
    await using database = await databaseBefore('0033');
    await using stage = await setUp(database);
    const [all, textOnly, never] = [await stage.role(), await stage.role(), await stage.role()];
    await database.query(`
      select ringback.grant_publish('${all.name}', 'shop');
      grant usage on schema ringback to ${textOnly.name}, ${never.name};
      grant execute on function ringback.publish(text, text, text, text) to ${textOnly.name}
        with grant option;
      insert into ringback.publisher (role, app)
      select role, 2 from unnest(array['${textOnly.name}', '${never.name}']) as role`);
    await applyMigrations({ url: database.url, migrationsDir, nowMs });
    const rows = await database.query(granted);
    assert.deepEqual(
      rows.map((row) => `${String(row['role'])}: ${String(row['may'])}`).toSorted(),
      [`${all.name}: text, json, jsonb`, `${textOnly.name}: text with grant option`].toSorted(),
    );
    assert.deepEqual(
      [await all.publish('shop'), await all.publishJson('shop'), await textOnly.publish('shop')],
      ['shop', 'shop', 'shop'],
    );
    assert.deepEqual(
      [await textOnly.publishJson('shop'), await never.publish('shop')],
      [denied, denied],
    );
  });
});

/** A database with the migrations before this one. */
async function databaseBefore(number: string): Promise<Database> {
  const database = await freshDatabase();
  const dir = mkdtempSync(join(tmpdir(), 'ringback-migrations-'));
  try {
    const earlier = readdirSync(migrationsDir).filter((file) => file < number);
    for (const file of earlier) cpSync(join(migrationsDir, file), join(dir, file));
    await applyMigrations({ url: database.url, migrationsDir: dir, nowMs });
  } finally {
    rmSync(dir, { recursive: true });
  }
  return database;
}

interface Role {
  name: string;
  /** Returns the app that got the event, or the error code; `null` publishes without naming an app. */
  publish: (app: string | null) => Promise<string>;
  publishJson: (app: string | null) => Promise<string>;
}

interface Stage extends AsyncDisposable {
  owner: Database;
  role: () => Promise<Role>;
  publishAsOwner: (app: string | null) => Promise<string>;
}

async function setUp(given?: Database): Promise<Stage> {
  const owner = given ?? (await freshStoreDatabase());
  for (const [name, id] of Object.entries(ids)) {
    const values = [id, name];
    await owner.query('insert into ringback.app (id, name, created_ms) values ($1, $2, 0)', values);
  }
  const clients: Client[] = [];
  const names: string[] = [];
  const publish = async (
    ask: (sql: string) => Promise<unknown>,
    app: string | null,
    type = 'text',
  ): Promise<string> => {
    const named = app === null ? '' : `, app => '${app}'`;
    try {
      await ask(`select ringback.publish('a', '1'::${type}${named})`);
    } catch (error) {
      return String((error as { code?: unknown }).code);
    }
    const [row] = await owner.query(`select app.name from ringback.inbox
      join ringback.app on app.no = inbox.app order by inbox.no desc limit 1`);
    return String(row?.['name']);
  };
  const role = async (): Promise<Role> => {
    const name = `ringback_test_${randomBytes(6).toString('hex')}`;
    await owner.query(`create role ${name} login password 'plain-password'`);
    names.push(name);
    const url = Object.assign(new URL(owner.url), { username: name, password: 'plain-password' });
    const client = new Client({ connectionString: url.href });
    await client.connect();
    clients.push(client);
    const ask = async (sql: string): Promise<unknown> => client.query(sql);
    return {
      name,
      publish: async (app) => publish(ask, app),
      publishJson: async (app) => publish(ask, app, 'jsonb'),
    };
  };
  return {
    owner,
    role,
    publishAsOwner: async (app) => publish(async (sql) => owner.query(sql), app),
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client.end();
      for (const name of names) await owner.query(`drop owned by ${name}; drop role ${name}`);
      if (given === undefined) await owner[Symbol.asyncDispose]();
    },
  };
}
