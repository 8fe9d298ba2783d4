// Inspects a PostgreSQL database without changing it, for the doctor.
import type { World } from '../../../core/base/world.ts';
import { bytes, integer, maybe, text, type Row } from '../../sql/row.ts';
import { cannotConnect } from './cannot-open.ts';
import { connect } from './connect.ts';
import { checkSession } from './session-check.ts';

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
  const client = await connect({ url, kind: 'plain', purpose: 'doctor', onLost: unheard }).catch(
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
function unheard(): void {
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
