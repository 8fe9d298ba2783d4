// The one PostgreSQL that ordinary tests share, each with a database of its own on it (database.ts).
// Its tests must not stop or kill it: for that there is startPostgres().
import { startPostgres, type Postgres } from './server.ts';

let own: Promise<Postgres> | undefined;

/**
 * The URL of a server where databases may be made: the user's own or the one that the global setup
 * started, else one for this process alone, which ends with it.
 */
export async function sharedPostgres(): Promise<string> {
  const given = process.env['TEST_DATABASE_URL'];
  if (given !== undefined && given !== '') return given;
  own ??= startShared();
  return (await own).url();
}

/** `fsync` is off: these tests do not pull the plug, and making a database takes a third of the time. */
export async function startShared(): Promise<Postgres> {
  return startPostgres({ settings: { fsync: 'off', max_connections: '300' } });
}
