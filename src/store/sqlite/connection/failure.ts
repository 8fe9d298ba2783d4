// Classifies an error: one bad item, a store that cannot work now, or a disk whose state is
// unknown. Pure.
import type { StoreFailure, VerbFailure } from '../../port/transport-protocol.ts';

const busy = 5;
/** Primary result codes that concern the database itself: its file, disk, memory or locks. */
const storeCodes = new Set([
  2, // internal
  3, // perm
  4, // abort
  busy,
  6, // locked
  7, // nomem
  8, // readonly
  9, // interrupt
  10, // ioerr
  11, // corrupt
  13, // full
  14, // cantopen
  15, // protocol
  17, // schema
  22, // nolfs
  26, // notadb
]);
/**
 * A failed fsync of the file (1034) or of its folder (1290). The kernel may have dropped the pages
 * and will report success next time, so this process can no longer know what is on the disk.
 */
const fatalCodes = new Set([1034, 1290]);

/** A failure of the store as a whole; undefined when the error belongs to one item. */
export function storeFailure(error: unknown): StoreFailure | undefined {
  const code = sqliteCode(error);
  if (code !== undefined && fatalCodes.has(code)) return { kind: 'fatal', ...describe(error) };
  const isStore = code === undefined ? isClosed(error) : storeCodes.has(code & 0xff);
  return isStore ? { kind: 'unavailable', ...describe(error) } : undefined;
}

export function verbFailure(verb: string, error: unknown): VerbFailure {
  const { message, trace } = describe(error);
  return { kind: 'failed', message: `Cannot run "${verb}": ${message}`, trace };
}

/** For errors of the steps around the items (begin, commit): these always concern the store. */
export function unavailable(error: unknown): StoreFailure {
  return storeFailure(error) ?? { kind: 'unavailable', ...describe(error) };
}

/** For a broken invariant: this process can no longer be trusted. */
export function fatal(error: unknown): StoreFailure {
  return storeFailure(error) ?? { kind: 'fatal', ...describe(error) };
}

export function isBusy(error: unknown): boolean {
  return ((sqliteCode(error) ?? 0) & 0xff) === busy;
}

function describe(error: unknown): { message: string; trace: string } {
  if (!(error instanceof Error)) return { message: String(error), trace: '' };
  const code = sqliteCode(error);
  const message = code === undefined ? error.message : `${error.message} (SQLite ${code})`;
  return { message, trace: error.stack ?? '' };
}

/** Advice for an error that keeps the store from opening; empty for most errors. */
export function adviceOn(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  switch ((sqliteCode(error) ?? sqliteCode(cause) ?? 0) & 0xff) {
    case 10:
      return '; check the disk of the data folder: it may be full or failing';
    case 13:
      return '; free some space on the disk of the data folder, and start again';
    default:
      return '';
  }
}

/** The extended result code. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE';
}
