// Preloaded (--import) into the process to be killed: it wraps the calls to SQLite and kills the process before or
// after the k-th statement that writes, counted from the moment when the file CRASH_FROM exists, if one is named. Worker
// threads load it too. The product contains no code for this.
import { existsSync } from 'node:fs';
import { constants, DatabaseSync, StatementSync } from 'node:sqlite';
import { isMainThread, threadId } from 'node:worker_threads';

const killAt = Number(process.env['CRASH_AT'] ?? 0);
const side = process.env['CRASH_SIDE'] ?? 'before';
const countsFrom = process.env['CRASH_FROM'];
let count = 0;

/** Keywords of statements that write or end a transaction. */
const writing = /\b(insert|update|delete|create|drop|alter|replace|commit|savepoint|release)\b/i;

function around<T>(sql: string, run: () => T): T {
  if (!writing.test(sql) || !hasBegun()) return run();
  count += 1;
  if (count === killAt && side === 'before') die();
  const result = run();
  if (count === killAt && side === 'after') die();
  return result;
}

function hasBegun(): boolean {
  return countsFrom === undefined || existsSync(countsFrom);
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

wrap(DatabaseSync.prototype, 'exec', function counted(this: DatabaseSync, original, [sql]) {
  // A migration is one text of many statements. SQLite compiles each right before it runs, so the authorizer sees it.
  const isScript = /;\s*\S/.test(String(sql));
  if (isScript) this.setAuthorizer(countInside);
  around(String(sql), () => Reflect.apply(original, this, [sql]));
  if (isScript) this.setAuthorizer(null);
});

function countInside(action: number): number {
  if (inner.has(action) && hasBegun()) {
    count += 1;
    if (count === killAt && side === 'before') die();
  }
  return constants.SQLITE_OK;
}

const inner = new Set<number>([
  constants.SQLITE_CREATE_TABLE,
  constants.SQLITE_CREATE_INDEX,
  constants.SQLITE_CREATE_TRIGGER,
  constants.SQLITE_CREATE_VIEW,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
]);

for (const name of ['run', 'get', 'all']) {
  wrap(StatementSync.prototype, name, function counted(this: StatementSync, original, values) {
    return around(this.sourceSQL, () => Reflect.apply(original, this, values));
  });
}

// Threads that never write report nothing.
process.on('exit', () => {
  if (count > 0 && process.env['CRASH_COUNT'] !== undefined) {
    process.stderr.write(`${isMainThread ? 'main' : threadId} ${count}\n`);
  }
});

type Method<T> = (this: T, original: () => unknown, values: readonly unknown[]) => unknown;

function wrap<T extends object>(prototype: T, name: string, method: Method<T>): void {
  const original: unknown = Reflect.get(prototype, name);
  if (typeof original !== 'function') throw new Error(`SQLite has no ${name}`);
  Reflect.set(prototype, name, function wrapped(this: T, ...values: unknown[]) {
    return Reflect.apply(method, this, [original, values]);
  });
}
