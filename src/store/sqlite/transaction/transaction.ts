// Runs the items of a batch in one transaction, so that they share one fsync. A savepoint around
// every item would be expensive, so the first try has none. Only if an item fails is the batch run
// again with savepoints, and then that item alone fails.
import type { DatabaseSync } from 'node:sqlite';
import type {
  EditReply,
  SettleReply,
  StoreFailure,
  VerbFailure,
} from '../../port/transport-protocol.ts';
import type { Settled } from '../../port/delivery-verbs.ts';
import type { EditOutput, EditVerb } from '../../port/store.ts';
import { fatal, storeFailure, unavailable, verbFailure } from '../connection/failure.ts';

export interface Item<T> {
  verb: string;
  apply(): T;
}

export type ItemReply<T> = { kind: 'done'; output: T } | VerbFailure;
export type Written<R> = ({ kind: 'written' } & Done<R>) | StoreFailure;

/** `alone`: an item may be rolled back, so nothing that it read may stay in memory. */
export type BatchMode = 'together' | 'alone';

/**
 * What to do in one try: outcomes, edits, and the final part. Planned in the transaction of each
 * try, because the in-memory state of the first one is void.
 */
export type Plan<R> = (mode: BatchMode) => {
  outcomes: readonly Item<Settled>[];
  edits: readonly Item<EditOutput<EditVerb>>[];
  last: () => R;
};

/** When it returns `written`, all items that succeeded are on stable storage. */
export function writeTogether<R>(db: DatabaseSync, plan: Plan<R>): Written<R> {
  const first = transact(db, () => carriedOut(plan('together'), apply));
  if (first.kind !== 'bad_item') return first;
  const second = transact(db, () => carriedOut(plan('alone'), (item) => applyAlone(db, item)));
  // No item can be the cause now, so it is the final part: a broken invariant of our own.
  return second.kind === 'bad_item' ? fatal(second.error) : second;
}

interface BadItem {
  kind: 'bad_item';
  error: unknown;
}

interface Done<R> {
  settled: readonly SettleReply[];
  edits: readonly EditReply[];
  last: R;
}

/**
 * In this order: an event must not reach a subscription that an outcome of the same batch ended.
 */
function carriedOut<R>(
  { outcomes, edits, last }: ReturnType<Plan<R>>,
  applied: <T>(item: Item<T>) => ItemReply<T>,
): Done<R> {
  return {
    settled: outcomes.map((item) => applied(item)),
    edits: edits.map((item) => applied(item)),
    last: last(),
  };
}

function apply<T>(item: Item<T>): ItemReply<T> {
  return { kind: 'done', output: item.apply() };
}

/** Begins, runs and commits; rolls back everything on any error. */
function transact<R>(db: DatabaseSync, body: () => Done<R>): Written<R> | BadItem {
  let done: Done<R>;
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

/** A constraint violation rolls back only this item; a failure of the store is thrown. */
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

/** A serious error has already ended the transaction; then there is nothing to roll back. */
function undo(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('rollback');
  } catch {
    // The error that led here is the one to report. `begin` fails until a rollback succeeds.
  }
}
