// A primary and a standby that follows it through a proxy, and what a manager of failovers does with them:
// whether commits wait for the standby, and that the standby takes over.
import { setTimeout as wait } from 'node:timers/promises';
import { openDatabase, type Database } from './database.ts';
import { startProxy, type PostgresProxy } from './proxy.ts';
import type { Postgres } from './server.ts';

/** `synchronous`: a commit is answered when the standby has it, too. */
export type Replication = 'synchronous' | 'asynchronous';

export interface Pair extends AsyncDisposable {
  primary: Postgres;
  standby: Postgres;
  /** From the standby to the primary. */
  way: PostgresProxy;
  /** On the standby. */
  database: Database;
  /** Resolves when it is so for every commit from now on. */
  replicate: (how: Replication) => Promise<void>;
  /** The primary has ended: the standby is one. Resolves when it commits. */
  takeOver: () => Promise<void>;
}

/** `name`: of the database. The primary needs `wal_keep_size`. */
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
      way.resume(); // What it held is gone; whoever comes now finds nobody.
      await database.query('select pg_promote()');
      await setSynchronous(database, ''); // It has nobody to wait for yet.
      // While its first checkpoint lasts it does not hear of that, and commits wait.
      await database.query("select pg_logical_emit_message(true, 'test', '')");
    },
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

async function setSynchronous(database: Database, names: '*' | ''): Promise<void> {
  await database.query(`alter system set synchronous_standby_names = '${names}'`);
  await database.query('select pg_reload_conf()');
}
