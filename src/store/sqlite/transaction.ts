// Runs the items of a batch in one transaction, so that they share one fsync. A savepoint around
// every item would cost 1 to 5 µs each, so the first try goes without: only after a bad item is the
// batch run again, with savepoints, and then the culprit alone fails.
import type { DatabaseSync } from 'node:sqlite';
import type { StoreFailure, VerbFailure } from '../call.ts';
import { storeFailure, unavailable, verbFailure } from './failure.ts';

export interface Item<T> {
  verb: string;
  apply(): T;
}

export type ItemReply<T> = { kind: 'done'; output: T } | VerbFailure;
export type Written<T> = { kind: 'written'; replies: ItemReply<T>[] } | StoreFailure;

/** All items that can be written are on stable storage when this returns `written`. */
export function writeTogether<T>(db: DatabaseSync, items: readonly Item<T>[]): Written<T> {
  const first = transact(db, () => items.map((item) => ({ kind: 'done', output: item.apply() })));
  if (first.kind !== 'bad_item') return first;
  const second = transact(db, () => items.map((item) => applyAlone(db, item)));
  return second.kind === 'bad_item' ? unavailable(second.error) : second;
}

interface BadItem {
  kind: 'bad_item';
  error: unknown;
}

/** Begins, runs and commits; whatever goes wrong, nothing of it stays. */
function transact<T>(db: DatabaseSync, body: () => ItemReply<T>[]): Written<T> | BadItem {
  let replies: ItemReply<T>[];
  try {
    undo(db);
    db.exec('begin immediate');
  } catch (error) {
    return unavailable(error);
  }
  try {
    replies = body();
  } catch (error) {
    undo(db);
    return storeFailure(error) ?? { kind: 'bad_item', error };
  }
  try {
    db.exec('commit');
  } catch (error) {
    undo(db);
    return unavailable(error);
  }
  return { kind: 'written', replies };
}

function applyAlone<T>(db: DatabaseSync, item: Item<T>): ItemReply<T> {
  db.exec('savepoint item');
  try {
    const output = item.apply();
    db.exec('release item');
    return { kind: 'done', output };
  } catch (error) {
    if (storeFailure(error) !== undefined) throw error;
    db.exec('rollback to item');
    db.exec('release item');
    return verbFailure(item.verb, error);
  }
}

/** A grave error has ended the transaction already; then there is nothing left to undo. */
function undo(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('rollback');
  } catch {
    // The error that led here is the one to report. `begin` fails until a rollback succeeds.
  }
}
