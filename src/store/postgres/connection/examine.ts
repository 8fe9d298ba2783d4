// Inspects a PostgreSQL database without changing it, for the doctor and before a start.
import type { Client } from 'pg';
import type { World } from '../../../core/base/world.ts';
import { bytes, integer, maybe, text, type Row, one } from '../../sql/row.ts';
import { cannotConnect, sharesSession } from './cannot-open.ts';
import { connect, connectUnset } from './connect.ts';

export interface ExaminedServer {
  /** 140005 is 14.5. */
  versionNumber: number;
  /** Server settings that durability depends on and that no session can change. */
  fsync: string;
  fullPageWrites: string;
  /** As it is in a session of ours. */
  synchronousCommit: string;
  hasSchema: boolean;
  /** Whether the user may create the schema, or tables in it. */
  mayCreate: boolean;
  connectionsMax: number;
  connections: number;
  /** How far the database's clock is ahead of this machine's. */
  aheadMs: number;
  encryptionCheck: Uint8Array | undefined;
}

/** Rejects with CannotOpenStore. `setting`: the name of the row that proves the encryption key. */
export async function examineServer(
  url: string,
  { world, setting }: { world: Pick<World, 'nowMs'>; setting: string },
): Promise<ExaminedServer> {
  await checkSession(url);
  const client = await connect({ url, kind: 'plain', purpose: 'doctor', onLost: ignoreLoss }).catch(
    (error: unknown) => {
      throw cannotConnect(url, error);
    },
  );
  try {
    const askedMs = world.nowMs();
    const time = await client.query<Row>(
      'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as ms',
    );
    const middleMs = (askedMs + world.nowMs()) / 2;
    const { rows } = await client.query<Row>(facts);
    const [row = {}] = rows;
    const hasProof = row['has_settings'] === true;
    const kept = hasProof ? await client.query<Row>(proof, [setting]) : { rows: [] };
    return {
      versionNumber: integer(row, 'version'),
      fsync: text(row, 'fsync'),
      fullPageWrites: text(row, 'full_page_writes'),
      synchronousCommit: text(row, 'synchronous_commit'),
      hasSchema: row['has_schema'] === true,
      mayCreate: row['may_create'] === true,
      connectionsMax: integer(row, 'connections_max'),
      connections: integer(row, 'connections'),
      aheadMs: Math.round(integer(time.rows[0] ?? {}, 'ms') - middleMs),
      encryptionCheck: maybe(bytes, kept.rows[0] ?? { value: null }, 'value'),
    };
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A broken connection rejects its pending queries; no other code needs to know. */
function ignoreLoss(): void {
  // Nothing.
}

const facts = `
  select current_setting('server_version_num')::int as version,
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('max_connections')::int as connections_max,
    (select count(*) from pg_stat_activity) as connections,
    to_regnamespace('ringback') is not null as has_schema,
    to_regclass('ringback.setting') is not null as has_settings,
    case when to_regnamespace('ringback') is null
      then has_database_privilege(current_database(), 'create')
      else has_schema_privilege('ringback', 'create') end as may_create`;

const proof = 'select value from ringback.setting where name = $1';

// Refuses a pooler in transaction or statement mode: behind it the statements of one session reach several server
// connections. Settings, prepared statements and LISTEN then hold by chance, and publishes fail by chance.

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
