// A primary and a standby that follows it through a proxy, with the actions of a failover manager: it controls
// whether commits wait for the standby, and promotes the standby.
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, type Database } from './database.ts';
import { startProxy, type PostgresProxy } from './proxy.ts';
import type { Postgres } from './server.ts';

/** `synchronous`: a commit is acknowledged once the standby has it, too. */
export type Replication = 'synchronous' | 'asynchronous';

export interface Pair extends AsyncDisposable {
  primary: Postgres;
  standby: Postgres;
  /** The connection from the standby to the primary. */
  way: PostgresProxy;
  /** The database on the standby. */
  database: Database;
  /** Resolves when it applies to every further commit. */
  replicate: (how: Replication) => Promise<void>;
  /** Promotes the standby after the end of the primary. Resolves when it commits. */
  takeOver: () => Promise<void>;
}

/** `name` is the database. The primary needs `wal_keep_size`. */
export async function startPair(primary: Postgres, name: string): Promise<Pair> {
  await using cleanup = new AsyncDisposableStack();
  const way = cleanup.use(await startProxy(primary.url()));
  const standby = cleanup.use(await primary.startStandby(way.url));
  const database = cleanup.use(openDatabase(standby.url(name)));
  const running = cleanup.move();
  return {
    primary,
    standby,
    way,
    database,
    replicate: async (how) => {
      await using there = openDatabase(primary.url(name));
      await setSynchronous(there, how === 'synchronous' ? '*' : '');
      const expected = how === 'synchronous' ? 'sync' : 'async';
      const state = `select from pg_stat_replication
        where state = 'streaming' and sync_state = '${expected}'`;
      while ((await there.query(state)).length === 0) await wait(10);
    },
    takeOver: async () => {
      way.cutAll();
      way.resume(); // Held messages were dropped; new connections find no primary.
      await database.query('select pg_promote()');
      await setSynchronous(database, ''); // It has no standby to wait for yet.
      // During its first checkpoint it does not apply that setting, and commits wait.
      await database.query("select pg_logical_emit_message(true, 'test', '')");
    },
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

async function setSynchronous(database: Database, names: '*' | ''): Promise<void> {
  await database.query(`alter system set synchronous_standby_names = '${names}'`);
  await database.query('select pg_reload_conf()');
}
