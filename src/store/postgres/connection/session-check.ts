// Refuses a pooler in transaction or statement mode: behind it the statements of one session reach several server
// connections. Settings, prepared statements and LISTEN then hold by chance, and publishes fail by chance.
import type { Client } from 'pg';
import { one, text, type Row } from '../../sql/row.ts';
import { cannotConnect, sharesSession } from './cannot-open.ts';
import { connectUnset } from './connect.ts';

/**
 * Each session makes a setting of its own and has to find it again at every later statement, whatever the others did
 * meanwhile. One statement is one transaction, so a pooler takes the server connection back after each. If it has
 * one only, or gives out the last one used, the next session overwrites the setting; if it gives out the one that was
 * idle for longest, a session misses its own at once. Chance, and other clients, are met by asking repeatedly.
 *
 * Nothing else is set before this is known: another client of the pooler would inherit it.
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
/** Two in a row: a pooler that takes turns gives the second another server connection. */
const timesInRow = 2;
const sessionsDirect = 2;
/** Several poolers behind one address have connections of their own. Of more sessions than poolers, two meet in one. */
const sessionsPooled = 8;

interface Session {
  client: Client;
  mark: string;
  isPooled: boolean;
}

/** What became of a setting, if not all stayed. */
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
 * The process that the client was told at the start. It is that of the server, unless a pooler has answered. That
 * alone proves nothing: a pooler may pass on what its first server connection said.
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
