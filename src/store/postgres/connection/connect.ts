// Opens connections and sets explicitly every setting that durability, correctness or query plans
// depend on. No default of a server, database, role or URL is trusted.
import { AssertionError } from 'node:assert';
import { Client } from 'pg';
import { limits } from '../../../core/limits/limits.ts';
import { StoreUnavailable } from '../../port/store.ts';

/**
 * `engine`: hot path and reads, with pinned plans. `plain`: everything else. `schema`: migrations
 * and partitions, without a statement timeout.
 */
export type ConnectionKind = 'engine' | 'plain' | 'schema';

export interface ConnectOptions {
  url: string;
  kind: ConnectionKind;
  /** The purpose, shown in pg_stat_activity behind "ringback". */
  purpose: string;
  /** Called once when the connection breaks. Its pending queries are rejected separately. */
  onLost: (error: Error) => void;
  /** Sends statements without waiting for earlier answers. */
  pipeline?: boolean;
}

/**
 * The settings travel in the start options, so that they hold from the first statement on, also on each
 * server connection that a pooler opens for us. A pooler may refuse such options or drop them; what is
 * not in force after connecting is set by a statement. Both need a session that keeps its server
 * connection: `checkSession()` of examine.ts refuses any other at the start.
 */
export async function connect(options: ConnectOptions): Promise<Client> {
  const settings = settingsOf(options);
  const client = await open(options, startOptions(settings)).catch(async (error: unknown) => {
    if (!isRefusedStart(error)) throw error;
    return open(options, undefined);
  });
  try {
    const names = [Object.keys(settings), Object.values(settings)];
    const { rows } = await client.query<{ is_standby: boolean }>(setWhatDiffers, names);
    if (rows[0]?.is_standby === true)
      throw new StoreUnavailable(`Cannot use the server: ${standby}`);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/** A session as the server, or a pooler in front of it, gives it: without our settings. */
export async function connectUnset(url: string): Promise<Client> {
  return open({ url, kind: 'plain', onLost: () => {} }, undefined);
}

const setWhatDiffers = `
  select pg_is_in_recovery() as is_standby, (
    select count(set_config(name, value, false))
    from unnest($1::text[], $2::text[]) as x (name, value)
    where current_setting(name) is distinct from value)`;

/** A standby may return outdated rows, and a connection to it could never write. */
const standby = 'it is a standby, expected the primary';

type Settings = Readonly<Record<string, string>>;

function settingsOf({ kind, purpose }: ConnectOptions): Settings {
  return {
    ...promises,
    application_name: `ringback ${purpose}`.slice(0, applicationNameBytesMax),
    ...(kind === 'schema' ? patience : haste),
    ...(kind === 'engine' ? plans : {}),
  };
}

/** The server truncates longer names. */
const applicationNameBytesMax = 63;

/** Values as the server prints them, so that they can be compared. */
const promises: Settings = {
  synchronous_commit: 'on', // A reply means: on disk.
  default_transaction_isolation: 'read committed', // Races are decided by locks, not by snapshots.
  default_transaction_read_only: 'off',
  search_path: 'ringback',
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
  idle_in_transaction_session_timeout: printed(limits.databaseIdleInTransactionMs),
};

const haste: Settings = {
  statement_timeout: printed(limits.databaseStatementMs),
  lock_timeout: printed(limits.databaseLockMs),
};

/**
 * Migrations and detaching may take long. Statements that others would queue behind set their own
 * timeout.
 */
const patience: Settings = {
  statement_timeout: '0',
  lock_timeout: printed(limits.databaseSchemaLockMs),
};

/**
 * A plan made while a table was empty would scan it forever: so no sequential scans, no hash or
 * merge joins, and no bitmaps, which lose the order of the index and then sort.
 *
 * Generic plans only: a custom plan costs planning time on every execution and estimates by the
 * length of the arrays. Only `id = any($1)` on a partitioned table is slower that way;
 * docs/performance.md has the figures.
 *
 * Queries keep good plans on empty tables by the rules in migrations/postgres/0002_deliveries.sql:
 * join a list by `id = any(array[x.id])`. By `id = x.id` a plan made on empty partitions reads all
 * of them.
 */
const plans: Settings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** Prints like the server: in the largest unit without a remainder. */
function printed(ms: number): string {
  if (ms % 60_000 === 0) return `${ms / 60_000}min`;
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

function startOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\\s]/g, String.raw`\$&`)}`)
    .join(' ');
}

async function open(
  options: Omit<ConnectOptions, 'purpose'>,
  start: string | undefined,
): Promise<Client> {
  const { url, kind, pipeline = false, onLost } = options;
  const { connectionString, ownOptions } = readUrl(url);
  const client = new Client({
    connectionString,
    options: [ownOptions, start].filter((text) => text !== undefined).join(' '),
    connectionTimeoutMillis: limits.databaseConnectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.databaseKeepAliveMs,
    // TCP sends no keepalives while data is unacknowledged: without this timeout, a vanished server
    // would go unnoticed until retransmission gives up, after a quarter of an hour.
    query_timeout: kind === 'schema' ? 0 : limits.databaseStatementMs + limits.databaseSilenceMs,
    pipeline,
  });
  client.setTypeParser(int8, safeInteger);
  client.setTypeParser(numeric, safeInteger);
  let isOpen = false;
  client.on('error', (error) => {
    if (isOpen) onLost(error);
    isOpen = false;
  });
  try {
    await client.connect();
    isOpen = true;
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

/** Settings in a URL are ignored, except `options`, which come before ours. */
function readUrl(text: string): { connectionString: string; ownOptions: string | undefined } {
  const url = URL.parse(text);
  if (url === null) return { connectionString: text, ownOptions: undefined };
  const ownOptions = url.searchParams.get('options') ?? undefined;
  for (const name of overruled) url.searchParams.delete(name);
  return { connectionString: url.href, ownOptions };
}

/**
 * Parameters that the driver would send beside the options, where they would win, or interpret
 * itself.
 */
const overruled = [
  'options',
  'application_name',
  'fallback_application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

/** Protocol violation: the answer of poolers to an unknown start parameter. */
function isRefusedStart(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '08P01';
}

const int8 = 20;
const numeric = 1700;

/** Our counts, times and leases all fit into a number; one that does not is a broken invariant. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new AssertionError({ message: `Cannot read "${text}": expected a safe integer` });
}
