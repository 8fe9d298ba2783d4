// Explains why PostgreSQL could not be opened, for the person who starts Ringback. A URL is always
// shown without its password. Pure.
import { CannotOpenStore } from '../../port/store.ts';
import { sqlState, unavailable } from './failure.ts';

/** The database's name in messages: user, host, port and name; never the rest of the URL. */
export function databaseName(text: string): string {
  const url = URL.parse(text);
  if (url === null) return 'DATABASE_URL';
  const { protocol, username, host, pathname } = url;
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}

export function cannotConnect(url: string, error: unknown): CannotOpenStore {
  return failed(`Cannot connect to "${databaseName(url)}": ${whyNot(error)}`, error);
}

export function cannotMigrate(url: string, error: unknown): CannotOpenStore {
  if (error instanceof CannotOpenStore) return error;
  const { message } = unavailable(error);
  const advice = sqlState(error) === '42501' ? `; ${rightsAdvice}` : '';
  return failed(`Cannot open "${databaseName(url)}": ${message}${advice}`, error);
}

/** `found`: what became of a setting that a session had made. */
export function sharesSession(url: string, found: 'lost' | 'replaced'): CannotOpenStore {
  const became = found === 'lost' ? 'was lost' : 'was replaced by that of another session';
  const message =
    `Cannot open "${databaseName(url)}": a setting of a session ${became} before its next statement, ` +
    'as behind a pooler in transaction or statement mode; expected a session that keeps its server ' +
    `connection. ${sessionAdvice}`;
  return new CannotOpenStore('shared_session', message);
}

export const sessionAdvice =
  'Let DATABASE_URL lead to PostgreSQL directly, or to a pooler in session mode ' +
  '(PgBouncer: pool_mode = session)';

export const versionMin = 14;

/** Throws if the server lacks what the schema needs. `versionNumber`: 140005 is 14.5. */
export function refuseServer(
  url: string,
  { versionNumber, encoding }: { versionNumber: number; encoding: string },
): void {
  const version = Math.floor(versionNumber / 10_000);
  const name = databaseName(url);
  if (version < versionMin) {
    const found = `it is PostgreSQL ${version}, expected ${versionMin} or newer`;
    throw failed(`Cannot open "${name}": ${found}`);
  }
  if (encoding !== 'UTF8') {
    const found = `its encoding is ${encoding}, expected UTF8`;
    throw failed(`Cannot open "${name}": ${found}; create a database with encoding 'UTF8'`);
  }
}

const rightsAdvice =
  'as the database owner, run `create schema ringback authorization <the user>`, or ' +
  '`grant create on database <the database> to <the user>`';

function whyNot(error: unknown): string {
  const { message } = unavailable(error);
  const advice = adviceOn(error);
  return advice === undefined ? message : `${message}; ${advice}`;
}

function adviceOn(error: unknown): string | undefined {
  switch (sqlState(error)) {
    case '28P01':
    case '28000':
      return 'check the user and password in DATABASE_URL, and the rules in pg_hba.conf';
    case '3D000':
      return 'create the database first (`createdb`), or check its name in DATABASE_URL';
    case '53300':
      return 'the server has no free connection: raise max_connections, or run fewer nodes';
    case undefined:
      break;
    default:
      return undefined;
  }
  if (!(error instanceof Error)) return undefined;
  if (error.message.startsWith('SASL')) return 'check the password in DATABASE_URL';
  return 'check the host and port in DATABASE_URL, and that the server is running and reachable';
}

function failed(message: string, cause?: unknown): CannotOpenStore {
  return new CannotOpenStore('failed', message, { cause });
}
