// A database for one test on the shared PostgreSQL: created in 25 ms, dropped after the test.
import { randomBytes } from 'node:crypto';
import { Client, escapeIdentifier, Pool } from 'pg';
import { sharedPostgres } from './shared-server.ts';

export interface Database extends AsyncDisposable {
  readonly url: string;
  /** Returns the rows. After the server was down, the next query connects again. */
  query: (sql: string, values?: readonly unknown[]) => Promise<Row[]>;
}

export type Row = Record<string, unknown>;

export interface DatabaseOptions {
  /** A database to copy, see ensureTemplate(). Default: an empty one. */
  template?: string;
}

/** Dropped when disposed, even with open connections. */
export async function freshDatabase(options: DatabaseOptions = {}): Promise<Database> {
  const name = `ringback_test_${randomBytes(8).toString('hex')}`;
  const server = await sharedPostgres();
  const template = escapeIdentifier(options.template ?? 'template0');
  await once(server, async (client) => {
    await client.query(`create database ${escapeIdentifier(name)} template ${template}`);
  });
  const database = openDatabase(withDatabase(server, name));
  return {
    ...database,
    [Symbol.asyncDispose]: async () => {
      await database[Symbol.asyncDispose]();
      await once(server, async (client) => {
        await client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`);
      });
    },
  };
}

/** An existing database on any server. Disposing closes the connections and keeps the database. */
export function openDatabase(url: string): Database {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined); // An idle connection broke, which the test handles itself.
  return {
    url,
    query: async (sql, values = []) => (await pool.query<Row>(sql, [...values])).rows,
    [Symbol.asyncDispose]: async () => pool.end(),
  };
}

const templates = new Map<string, Promise<void>>();

/**
 * Creates the template once per server, even if several processes need it at once. `prepare` gets an
 * empty database and must have closed its connections when it resolves. The user's server keeps its
 * templates, so the name must change with the content: it should contain a hash.
 */
export async function ensureTemplate(
  name: string,
  prepare: (url: string) => Promise<void>,
): Promise<void> {
  const made = templates.get(name) ?? makeTemplate(name, prepare);
  templates.set(name, made);
  made.catch(() => templates.delete(name)); // The next caller may try again.
  return made;
}

/** Created under another name, so that an incomplete one is never used. */
async function makeTemplate(name: string, prepare: (url: string) => Promise<void>): Promise<void> {
  const server = await sharedPostgres();
  const making = `${name}_making`;
  await once(server, async (client) => {
    await client.query('select pg_advisory_lock(hashtext($1))', [`ringback ${name}`]);
    const found = await client.query('select from pg_database where datname = $1', [name]);
    if (found.rowCount !== 0) return;
    await client.query(`drop database if exists ${escapeIdentifier(making)} with (force)`);
    await client.query(`create database ${escapeIdentifier(making)} template template0`);
    await prepare(withDatabase(server, making));
    await client.query(
      `alter database ${escapeIdentifier(making)} rename to ${escapeIdentifier(name)}`,
    );
    // A connection to a template would make every copy of it fail.
    await client.query(`alter database ${escapeIdentifier(name)} allow_connections false`);
  });
}

async function once(server: string, act: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
