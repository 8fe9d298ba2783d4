// Opens connections with every setting that a promise or a plan rests on, said aloud. No default of a
// server, a database, a role or a URL is trusted.
import { AssertionError } from 'node:assert';
import { Client } from 'pg';
import { limits } from '../../core/limits.ts';
import { StoreUnavailable } from '../store.ts';

/**
 * `engine`: the statements of the hot path and of reads, whose plans are pinned. `plain`: all others.
 * `schema`: migrations and partitions, whose statements take the time they take.
 */
export type ConnectionKind = 'engine' | 'plain' | 'schema';

export interface ConnectOptions {
  url: string;
  kind: ConnectionKind;
  /** What it is for; an operator sees it in pg_stat_activity behind "ringback". */
  purpose: string;
  /** The connection broke; told once. What was asked of it is rejected by itself. */
  onLost: (error: Error) => void;
  /** Sends statements without waiting for the answers before. */
  pipeline?: boolean;
}

/**
 * The settings travel in the start options, so that they hold from the first statement on, also on each
 * server connection that a pooler opens for us. A pooler may refuse such options or drop them; what is
 * not in force after connecting is set by a statement. Both need a session that keeps its server
 * connection: session-check.ts refuses any other at the start.
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

/** Its rows may be old, and whoever stayed with it would never write again. */
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

/** The server cuts longer ones. */
const applicationNameBytesMax = 63;

/** Values as the server prints them, so that they can be compared. */
const promises: Settings = {
  synchronous_commit: 'on', // An answer means: on the disk.
  default_transaction_isolation: 'read committed', // Locks, not snapshots, decide the races.
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

/** Migrations and detaching take the time they take. Where others would wait, they say it themselves. */
const patience: Settings = {
  statement_timeout: '0',
  lock_timeout: printed(limits.databaseSchemaLockMs),
};

/**
 * A plan that was made while a table was empty would scan it for ever: no scan, no joins by heap; and no
 * bitmaps, which give up the order of the index and then sort.
 *
 * One plan for all parameters: a custom one costs planning each time, and guesses by the length of
 * the arrays. Measured with 36 days of partitions (generic / auto / custom, ms): wake 256 lanes
 * 0.7 / 1.0–2.4 / 1.2, 128 events by joining their ids 1.1–2.0 / 2.0–3.4 / 2.2–2.6, newest 50 events
 * 0.4 / 0.7 / 2.0–2.5, four events by id 0.7 / 1.1–1.4 / 0.9; publish and settle alike. Only
 * `id = any($1)` on a partitioned table is slower (1.3–2.2 / 1.6 / 1.0–1.2).
 *
 * A search over eleven days of partitions spends three quarters of its time on custom plans (index of
 * failures: 3.2 ms, generic 1.2, of which it runs for 0.3).
 *
 * What makes plans hold on empty tables stands in migrations/postgres/0002_deliveries.sql: join a list
 * by `id = any(array[x.id])`. By `id = x.id` a plan made on empty partitions read all of them.
 */
const plans: Settings = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** As the server prints it: in the largest unit that leaves no rest. */
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
    // Whoever waits for an answer sends no keepalives: without this a machine that vanished is noticed
    // after a quarter of an hour.
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

/** What a URL says of our settings does not count, except `options`, which stand before ours. */
function readUrl(text: string): { connectionString: string; ownOptions: string | undefined } {
  const url = URL.parse(text);
  if (url === null) return { connectionString: text, ownOptions: undefined };
  const ownOptions = url.searchParams.get('options') ?? undefined;
  for (const name of overruled) url.searchParams.delete(name);
  return { connectionString: url.href, ownOptions };
}

/** Parameters that the driver would send beside the options, where they would win, or keep itself. */
const overruled = [
  'options',
  'application_name',
  'fallback_application_name',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

/** Protocol violation: what poolers answer to a start parameter that they do not know. */
function isRefusedStart(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '08P01';
}

const int8 = 20;
const numeric = 1700;

/** Counts, times and leases: all of ours fit a number, and one that does not is a broken invariant. */
function safeInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new AssertionError({ message: `Cannot read "${text}": expected a safe integer` });
}
