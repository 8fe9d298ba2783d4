// Runs the items of a batch in one transaction, so that they share one fsync. A savepoint around
// every item would cost 1 to 5 µs each, so the first try goes without: only after a bad item is the
// batch run again, with savepoints, and then the culprit alone fails.
import type { DatabaseSync } from 'node:sqlite';
import type { EditReply, SettleReply, StoreFailure, VerbFailure } from '../call.ts';
import type { Settled } from '../delivery-verbs.ts';
import type { EditOutput, EditVerb } from '../store.ts';
import { fatal, storeFailure, unavailable, verbFailure } from './failure.ts';

export interface Item<T> {
  verb: string;
  apply(): T;
}

export type ItemReply<T> = { kind: 'done'; output: T } | VerbFailure;
export type Written<R> = ({ kind: 'written' } & Done<R>) | StoreFailure;

/** Of items that run alone one may be undone: nothing of what it found may stay in memory. */
export type Way = 'together' | 'alone';

/**
 * What to do in one try: outcomes, edits, and what comes last. Asked anew for each try, because what the items
 * of a first one gathered in memory was undone with them.
 */
export type Plan<R> = (way: Way) => {
  outcomes: readonly Item<Settled>[];
  edits: readonly Item<EditOutput<EditVerb>>[];
  last: () => R;
};

/**
 * All items that can be written are on stable storage when this returns `written`. `beforeCommit` is told what came
 * last, if nothing was wrong so far.
 */
export function writeTogether<R>(
  db: DatabaseSync,
  plan: Plan<R>,
  beforeCommit: (last: R) => void,
): Written<R> {
  const first = transact(db, () => carriedOut(plan('together'), apply), beforeCommit);
  if (first.kind !== 'bad_item') return first;
  const second = transact(db, () => carriedOut(plan('alone'), (item) => applyAlone(db, item)));
  // No item can be the cause now, so it is what came last: a broken invariant of our own.
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

/** In this order: whom an outcome has ended, an event that is published after it must not reach. */
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

/** Begins, runs and commits; whatever goes wrong, nothing of it stays. */
function transact<R>(
  db: DatabaseSync,
  body: () => Done<R>,
  beforeCommit: (last: R) => void = () => undefined,
): Written<R> | BadItem {
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
  beforeCommit(done.last);
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
