// Checks the store on PostgreSQL: reachable, new enough, durable, with sufficient rights, its
// migration, and whether encryption key and clock fit. Read only.
import type { KeyRing } from '../../core/secrets/seal.ts';
import type { World } from '../../core/base/world.ts';
import { proofName } from '../../engine/access/check-encryption-key.ts';
import { migratorOf } from '../../store/open/migrate-database.ts';
import { CannotOpenStore } from '../../store/port/store.ts';
import {
  databaseName,
  sessionAdvice,
  versionMin,
} from '../../store/postgres/connection/cannot-open.ts';
import { examineServer, type ExaminedServer } from '../../store/postgres/connection/examine.ts';
import { failed, ok, warning, type Finding } from './finding.ts';
import { assessRing, assessSchema, refusedSchema } from './store-file.ts';

/** The newest version that the tests run on. */
const versionTested = 18;
const clockNearMs = 1_000;
const clockFarMs = 60_000;
const connectionsSpare = 11;

export interface StoreServer {
  url: string;
  encryptionKey: KeyRing | undefined;
  world: Pick<World, 'nowMs'>;
}

export async function checkStoreServer(deps: StoreServer): Promise<Finding[]> {
  const { url, encryptionKey, world } = deps;
  try {
    const found = await examineServer(url, { world, setting: proofName });
    return [
      ...assessServer(databaseName(url), found),
      await schemaOf(url),
      assessProof(encryptionKey, found.encryptionCheck),
      assessAhead(found.aheadMs),
    ];
  } catch (error) {
    if (!(error instanceof CannotOpenStore)) throw error;
    return [failed('store', { message: error.message, remedy: remedyOf(error) })];
  }
}

function remedyOf({ code }: CannotOpenStore): string {
  return code === 'shared_session'
    ? `${sessionAdvice}: see docs/operations.md, PgBouncer`
    : 'Check DATABASE_URL, the server, and the network between them';
}

/** All that is wrong with the server, or a word that nothing is. */
export function assessServer(name: string, found: ExaminedServer): Finding[] {
  const version = Math.floor(found.versionNumber / 10_000);
  const troubles = [...versionTroubles(version), ...settingTroubles(found), ...roomTroubles(found)];
  if (troubles.length > 0) return troubles;
  return [ok('store', `PostgreSQL ${version} at ${name}`)];
}

function versionTroubles(version: number): Finding[] {
  if (version < versionMin) {
    const message = `PostgreSQL ${version} found, expected ${versionMin} to ${versionTested}`;
    return [failed('store', { message, remedy: 'Upgrade PostgreSQL' })];
  }
  if (version <= versionTested) return [];
  const message = `PostgreSQL ${version} found; Ringback is tested up to ${versionTested}`;
  return [warning('store', { message, remedy: 'Test it before you rely on it in production' })];
}

function settingTroubles(found: ExaminedServer): Finding[] {
  const { fsync, fullPageWrites, synchronousCommit } = found;
  const troubles: Finding[] = [];
  for (const [name, value] of Object.entries({ fsync, full_page_writes: fullPageWrites })) {
    if (value === 'on') continue;
    const message = `${name} is ${value}: a server crash can lose accepted events`;
    troubles.push(failed('store', { message, remedy: `Set ${name} = on in postgresql.conf` }));
  }
  if (synchronousCommit !== 'on') {
    troubles.push(
      failed('store', {
        message: `synchronous_commit is ${synchronousCommit} in Ringback’s sessions, expected on`,
        remedy: sessionAdvice,
      }),
    );
  }
  return troubles;
}

function roomTroubles(found: ExaminedServer): Finding[] {
  const { hasSchema, mayCreate, connections, connectionsMax } = found;
  const troubles: Finding[] = [];
  if (!mayCreate) {
    const what = hasSchema ? 'tables in the schema ringback' : 'the schema ringback';
    troubles.push(
      failed('store', {
        message: `The user of DATABASE_URL is not allowed to create ${what}`,
        remedy:
          'As a superuser or the database owner, run: create schema ringback authorization <the ' +
          'user>',
      }),
    );
  }
  if (connectionsMax - connections < connectionsSpare) {
    troubles.push(
      warning('store', {
        message: `The server uses ${connections} of ${connectionsMax} connections`,
        remedy: 'Raise max_connections, or run fewer nodes: each uses up to eleven connections',
      }),
    );
  }
  return troubles;
}

async function schemaOf(url: string): Promise<Finding> {
  try {
    return assessSchema(await migratorOf({ url }).due());
  } catch (error) {
    if (!(error instanceof CannotOpenStore)) throw error;
    return refusedSchema(error);
  }
}

function assessProof(ring: KeyRing | undefined, proof: Uint8Array | undefined): Finding {
  if (ring === undefined || proof === undefined) {
    return ok('key', 'the first start stores which encryption key this database uses');
  }
  return assessRing(ring, proof);
}

export function assessAhead(aheadMs: number): Finding {
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  const message =
    `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the ` +
    'database server’s';
  const remedy = 'Set both clocks by NTP: signatures carry the time of this machine';
  if (Math.abs(aheadMs) <= clockNearMs) return ok('clock', 'in sync with the database server');
  return Math.abs(aheadMs) > clockFarMs
    ? failed('clock', { message, remedy })
    : warning('clock', { message, remedy });
}
