// Runs the items of a batch in one transaction, so that they share one fsync. A savepoint around
// every item would cost 1 to 5 µs each, so the first try goes without: only after a bad item is the
// batch run again, with savepoints, and then the culprit alone fails.
import type { DatabaseSync } from 'node:sqlite';
import type { StoreFailure, VerbFailure } from '../call.ts';
import { fatal, storeFailure, unavailable, verbFailure } from './failure.ts';

export interface Item<T> {
  verb: string;
  apply(): T;
}

export type ItemReply<T> = { kind: 'done'; output: T } | VerbFailure;
export type Written<T, R> = { kind: 'written'; replies: ItemReply<T>[]; last: R } | StoreFailure;

/**
 * What to do in one try: the items, and what comes last. Asked anew for each try, because what the items
 * of a first one gathered in memory was undone with them.
 */
export type Plan<T, R> = (way: 'together' | 'alone') => {
  items: readonly Item<T>[];
  last: () => R;
};

/** All items that can be written are on stable storage when this returns `written`. */
export function writeTogether<T, R>(db: DatabaseSync, plan: Plan<T, R>): Written<T, R> {
  const first = transact(db, () => {
    const { items, last } = plan('together');
    const replies = items.map((item) => ({ kind: 'done', output: item.apply() }) as const);
    return { replies, last: last() };
  });
  if (first.kind !== 'bad_item') return first;
  const second = transact(db, () => {
    const { items, last } = plan('alone');
    const replies = items.map((item) => applyAlone(db, item));
    return { replies, last: last() };
  });
  // No item can be the cause now, so it is what came last: a broken invariant of our own.
  return second.kind === 'bad_item' ? fatal(second.error) : second;
}

interface BadItem {
  kind: 'bad_item';
  error: unknown;
}

interface Done<T, R> {
  replies: ItemReply<T>[];
  last: R;
}

/** Begins, runs and commits; whatever goes wrong, nothing of it stays. */
function transact<T, R>(db: DatabaseSync, body: () => Done<T, R>): Written<T, R> | BadItem {
  let done: Done<T, R>;
  try {
    undo(db);
    db.exec('begin immediate');
  } catch (error) {
    return unavailable(error);
  }
  try {
    done = body();
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
  return { kind: 'written', ...done };
}

/** One that breaks a rule takes nothing else with it; a failure of the store is thrown. */
export function applyAlone<T>(db: DatabaseSync, item: Item<T>): ItemReply<T> {
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
