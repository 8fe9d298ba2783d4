// What an error says about the store: one bad item, a store that cannot work now, a transaction that
// only has to be run again, or a day without partitions. Pure.
import type { StoreFailure, VerbFailure } from '../call.ts';
import { StoreUnavailable } from '../store.ts';
import { WroteNothing } from './wrote-nothing.ts';

export type FailureKind =
  /** Out of reach, shutting down, full, read-only or too slow. Nothing is wrong with what was asked. */
  | 'unavailable'
  /** Two transactions were in each other's way, or it found that it must not write; it left no trace and can run again. */
  | 'again'
  /** No partition takes the row: make the days that are missing, then run again. */
  | 'missing_partition'
  /** A rule of the database or a bug of the program: it belongs to one item. */
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

/** A failure of the store as a whole, or undefined when the error belongs to one item. */
export function storeFailure(error: unknown): StoreFailure | undefined {
  return failureKind(error) === 'unavailable' ? unavailable(error) : undefined;
}

export function verbFailure(verb: string, error: unknown): VerbFailure {
  const { message, trace } = describe(error);
  return { kind: 'failed', message: `Cannot run "${verb}": ${message}`, trace };
}

/** For errors of the steps around the items (connect, begin, commit): they can only be the store's. */
export function unavailable(error: unknown): StoreFailure {
  return { kind: 'unavailable', ...describe(error) };
}

/** Whether the connection is of no more use: it is gone, stuck, or holds plans of an old schema. */
export function isConnectionLost(error: unknown): boolean {
  const code = sqlState(error);
  if (code !== undefined) return endsConnection(code) || isStalePlan(error);
  if (!(error instanceof Error)) return false;
  return isOfSystem(error) || driverMessages.some((text) => error.message.startsWith(text));
}

/** deadlock_detected, serialization_failure. */
const againCodes = new Set(['40P01', '40001']);

/** Classes whose members all speak of the server or of the way to it. */
const storeClasses = new Set([
  '08', // connection exception
  '28', // may no longer log in: a changed password, found out when connecting again
  '53', // no disk, no memory, too many connections
  '58', // I/O errors
]);

const storeCodes = new Set([
  '25006', // read only: a failover left us at a replica
  '25P03', // idle in transaction for too long: this process stood still
  '25P04', // the transaction took too long
  '3D000', // the database is gone
  '40003', // the outcome of the transaction is unknown
  '55P03', // a lock was not given in time
  '57014', // cancelled: the statement took too long
  '57P01', // shut down by the operator
  '57P02', // the server crashed
  '57P03', // cannot connect now: it starts or stops
  '57P04', // the database was dropped
  '57P05', // idle for too long
  'XX001', // data is corrupted
  'XX002', // an index is corrupted
]);

/** A statement of the same transaction has failed before. */
export function isAborted(error: unknown): boolean {
  return sqlState(error) === '25P02';
}

function isOfStore(code: string): boolean {
  return storeClasses.has(code.slice(0, 2)) || storeCodes.has(code);
}

/** A server that became read-only will not come back: another one is the primary now. */
function endsConnection(code: string): boolean {
  return code.startsWith('08') || code.startsWith('57P') || closing.has(code);
}

const closing = new Set(['25P03', '25P04', '25006']);

/** After a migration or behind a pooler: a prepared statement is not what it was. A new one heals it. */
function isStalePlan(error: unknown): boolean {
  const code = sqlState(error);
  if (code === '26000' || code === '42P05') return true; // Lost, or there already.
  return code === '0A000' && error instanceof Error && routineOf(error) === 'RevalidateCachedQuery';
}

/** Not by its words, which may be in another language: a broken CHECK has a name, this has none. */
function isMissingPartition(error: unknown): boolean {
  if (!(error instanceof Error) || sqlState(error) !== '23514') return false;
  return !('constraint' in error) || error.constraint === undefined;
}

/** What the driver itself says when a connection is of no more use; it gives these no code. */
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

/** From sockets, look-ups and TLS. Several addresses tried in vain come as one error of many. */
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

/** An error of many has no words of its own. */
function causesOf(error: Error): string {
  if (!(error instanceof AggregateError)) return error.name;
  return error.errors.map((cause) => describe(cause).message).join('; ');
}

/** Five characters of the server's, never a code of Node's. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && 'severity' in error)) return undefined;
  return typeof error.code === 'string' && sqlStateShape.test(error.code) ? error.code : undefined;
}

const sqlStateShape = /^[0-9A-Z]{5}$/;

function routineOf(error: Error): unknown {
  return 'routine' in error ? error.routine : undefined;
}
