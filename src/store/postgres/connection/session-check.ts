// Refuses a pooler in transaction or statement mode: behind it the statements of one session reach several server
// connections. Settings, prepared statements and LISTEN then hold by chance, and publishes fail by chance.
import type { Client } from 'pg';
import { one, text, type Row } from '../../sql/row.ts';
import { cannotConnect, sharesSession } from './cannot-open.ts';
import { connectUnset } from './connect.ts';

/**
 * Each session sets a value of its own and must find it again in every later statement, whatever the other sessions
 * did meanwhile. One statement is one transaction, so a pooler takes the server connection back after each. If the
 * pooler has only one, or reuses the last one used, the next session overwrites the value. If it reuses the one that
 * was idle for longest, a session loses its value at once. A pooler that chooses at random, or that has other clients,
 * may return the right connection by chance, so each session asks repeatedly.
 *
 * Nothing else is set before this check has passed: another client of the pooler would inherit it.
 *
 * Rejects with CannotOpenStore.
 */
export async function checkSession(url: string): Promise<void> {
  const loss = await findLoss(url).catch((error: unknown) => {
    throw cannotConnect(url, error);
  });
  if (loss !== undefined) throw sharesSession(url, loss);
}

const rounds = 4;
/** Two in a row: a pooler that rotates its server connections runs the second on another one. */
const timesInRow = 2;
const sessionsDirect = 2;
/** Several poolers may share one address. With more sessions than poolers, two sessions share a pooler. */
const sessionsPooled = 8;

interface Session {
  client: Client;
  mark: string;
  isPooled: boolean;
}

/** What happened to the first value that was not found again; undefined if all were. */
async function findLoss(url: string): Promise<'lost' | 'replaced' | undefined> {
  const sessions: Session[] = [];
  try {
    sessions.push(await openSession(url));
    while (sessions.length < countFor(sessions)) sessions.push(await openSession(url));
    for (const { client, mark } of Array.from({ length: rounds }, () => sessions).flat()) {
      for (let time = 0; time < timesInRow; time += 1) {
        const found = await readMark(client);
        if (found !== mark) return found === '' ? 'lost' : 'replaced';
      }
    }
    return undefined;
  } finally {
    await Promise.all(sessions.map(async ({ client }) => client.end().catch(() => undefined)));
  }
}

async function openSession(url: string): Promise<Session> {
  const client = await connectUnset(url);
  try {
    const { rows } = await client.query<Row>(setMark);
    const row = one(rows[0]);
    return { client, mark: text(row, 'mark'), isPooled: keyOf(client) !== row['pid'] };
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

function countFor([first]: readonly Session[]): number {
  return first?.isPooled === true ? sessionsPooled : sessionsDirect;
}

/**
 * The process id from the start of the connection. It differs from that of the server if a pooler has answered. An
 * equal one proves nothing: a pooler may forward the id of its first server connection.
 */
function keyOf(client: Client): unknown {
  return 'processID' in client ? client.processID : undefined;
}

async function readMark(client: Client): Promise<string> {
  const { rows } = await client.query<Row>(askMark);
  return text(one(rows[0]), 'mark');
}

const setMark = `
  select set_config('ringback.session', md5(random()::text || clock_timestamp()), false) as mark,
    pg_backend_pid() as pid`;

const askMark = "select coalesce(current_setting('ringback.session', true), '') as mark";
