// Starts a checkout of Ringback on either database, with one subscription for each port of the receivers.
import { startRingback, subscribed } from './ringback.ts';
import type { Contender } from './contender.ts';
import type { Databases } from '../harness/databases.ts';

export type Start = () => Promise<Contender>;
export type StartOn = (name: string, root?: string) => Start;

export interface OnDatabases {
  sqlite: StartOn;
  postgres: StartOn;
  /** Starts any contender on a new database. */
  onDatabase: (start: (url: string) => Promise<Contender>) => Promise<Contender>;
}

export function onDatabases(ports: readonly number[], databases: Databases): OnDatabases {
  let count = 0;
  // A database is dropped with its contender, because the server would vacuum it during the turns of the others.
  const onDatabase: OnDatabases['onDatabase'] = async (start) => {
    count += 1;
    const name = `bench_${count}`;
    const contender = await start(await databases.createDatabase(name));
    const end = async (): Promise<void> => {
      await contender[Symbol.asyncDispose]();
      await databases.dropDatabase(name);
    };
    return { ...contender, [Symbol.asyncDispose]: end };
  };
  return {
    onDatabase,
    sqlite: (name, root) => async () => subscribed(await startRingback({ name, root }), ports),
    postgres: (name, root) => async () =>
      onDatabase(async (databaseUrl) =>
        subscribed(await startRingback({ name, root, databaseUrl }), ports),
      ),
  };
}
