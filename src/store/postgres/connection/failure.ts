// Classifies errors: one bad item, a store that cannot work now, a transaction that only has to run
// again, or a day without partitions. Pure.
import { StoreUnavailable } from '../../port/store.ts';
import type { StoreFailure, VerbFailure } from '../../port/transport-protocol.ts';

export type FailureKind =
  /** Unreachable, shutting down, full, read-only or too slow. The request itself is fine. */
  | 'unavailable'
  /** A deadlock, a serialization failure, or WroteNothing: it was rolled back and can run again. */
  | 'again'
  /** No partition accepts the row: create the missing days, then run again. */
  | 'missing_partition'
  /** A constraint or a bug: the error belongs to one item. */
  | 'item';

export function failureKind(error: unknown): FailureKind {
  if (error instanceof StoreUnavailable) return 'unavailable';
  if (error instanceof WroteNothing) return 'again';
  const code = sqlState(error);
  if (code === undefined) return isConnectionLost(error) ? 'unavailable' : 'item';
  if (againCodes.has(code)) return 'again';
  if (isMissingPartition(error)) return 'missing_partition';
  return isOfStore(code) || isStalePlan(error) ? 'unavailable' : 'item';
}

/** The failure of the store as a whole; undefined if the error belongs to one item. */
export function storeFailure(error: unknown): StoreFailure | undefined {
  return failureKind(error) === 'unavailable' ? unavailable(error) : undefined;
}

export function verbFailure(verb: string, error: unknown): VerbFailure {
  const { message, trace } = describe(error);
  return { kind: 'failed', message: `Cannot run "${verb}": ${message}`, trace };
}

/**
 * For errors of the steps around the items (connect, begin, commit), which can only be the store's.
 */
export function unavailable(error: unknown): StoreFailure {
  return { kind: 'unavailable', ...describe(error) };
}

/** Whether the connection is unusable: gone, stuck, or with plans of an old schema. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined) return endsConnection(code) || isStalePlan(error);
  if (!(error instanceof Error)) return false;
  return isOfSystem(error) || driverMessages.some((text) => error.message.startsWith(text));
}

/** deadlock_detected, serialization_failure. */
const againCodes = new Set(['40P01', '40001']);

/** Error classes that all concern the server or the connection to it. */
const storeClasses = new Set([
  '08', // connection exception
  '28', // may no longer log in: the password was changed, which shows on reconnecting
  '53', // no disk, no memory, too many connections
  '58', // I/O errors
]);

const storeCodes = new Set([
  '25006', // read only: a failover left us connected to a standby
  '25P03', // idle in transaction for too long: this process was stalled
  '25P04', // the transaction took too long
  '3D000', // the database is gone
  '40003', // the outcome of the transaction is unknown
  '55P03', // lock timeout
  '57014', // statement timeout
  '57P01', // shut down by the operator
  '57P02', // the server crashed
  '57P03', // cannot connect now: starting up or shutting down
  '57P04', // the database was dropped
  '57P05', // idle for too long
  'XX001', // data is corrupted
  'XX002', // an index is corrupted
]);

/** An earlier statement of the same transaction has failed. */
export function isAborted(error: unknown): boolean {
  return sqlState(error) === '25P02';
}

function isOfStore(code: string): boolean {
  return storeClasses.has(code.slice(0, 2)) || storeCodes.has(code);
}

/** A server that became read-only does not recover: another one is the primary now. */
function endsConnection(code: string): boolean {
  return code.startsWith('08') || code.startsWith('57P') || closing.has(code);
}

const closing = new Set(['25P03', '25P04', '25006']);

/**
 * A prepared statement has become invalid, by a migration or behind a pooler. A new connection
 * fixes it.
 */
function isStalePlan(error: unknown): boolean {
  const code = sqlState(error);
  if (code === '26000' || code === '42P05') return true; // It is missing, or exists already.
  return code === '0A000' && error instanceof Error && routineOf(error) === 'RevalidateCachedQuery';
}

/**
 * Not detected by the message, which may be localized: a failed CHECK names its constraint, this
 * error does not.
 */
function isMissingPartition(error: unknown): boolean {
  if (!(error instanceof Error) || sqlState(error) !== '23514') return false;
  return !('constraint' in error) || error.constraint === undefined;
}

/** Messages of the driver for an unusable connection; these errors have no code. */
const driverMessages = [
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  'Query read timeout',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
  'Cannot use a pool after calling end',
];

/**
 * From sockets, DNS lookups and TLS. If several addresses failed, the driver throws an
 * AggregateError.
 */
function isOfSystem(error: Error): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost);
  if ('syscall' in error) return true;
  return 'code' in error && typeof error.code === 'string' && systemCode.test(error.code);
}

const systemCode = /^(E[A-Z]{3,}|ERR_(SSL|TLS|STREAM|SOCKET)_\w+|\w*CERT\w*|\w*_SIGNATURE\w*)$/;

function describe(error: unknown): { message: string; trace: string } {
  if (!(error instanceof Error)) return { message: String(error), trace: '' };
  const code = sqlState(error);
  const words = error.message === '' ? causesOf(error) : error.message;
  const message = code === undefined ? words : `${words} (PostgreSQL ${code})`;
  return { message, trace: error.stack ?? '' };
}

/** An AggregateError has no message of its own. */
function causesOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.name;
  return error.errors.map((cause) => describe(cause).message).join('; ');
}

/** The five-character SQLSTATE of the server, never an error code of Node. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'severity' in error)) return undefined;
  return typeof error.code === 'string' && sqlStateShape.test(error.code) ? error.code : undefined;
}

const sqlStateShape = /^[0-9A-Z]{5}$/;

function routineOf(error: Error): unknown {
  return 'routine' in error ? error.routine : undefined;
}

/** The transaction has written nothing, whether or not it was committed, so it can run again. */

export class WroteNothing extends Error {
  override readonly name = 'WroteNothing';
}
