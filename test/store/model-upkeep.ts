// Upkeep, applied to the model and to the store: sweeps, retention, expiry and statistics.
import { strict as assert } from 'node:assert';
import type { DeliveryState } from '../../src/core/domain/delivery.ts';
import { firstIdAt } from '../../src/core/base/id.ts';
import type { Books } from './model-books.ts';

export function sweep(books: Books, limit: number): number {
  const { cancelled } = books.store.edit('sweep', { limit });
  assert(cancelled <= limit);
  const found = books.rows('select event, n from delivery_done where state = 3');
  const gone = found.map(({ event, n }) => `${String(event)} ${String(n)}`);
  const fresh = gone.filter((key) => books.deliveries.get(key)?.state === 'due');
  assert.equal(fresh.length, cancelled);
  for (const key of fresh) books.end(key, 'cancelled');
  return cancelled;
}

/** Old pending deliveries expire, and ended ones may be deleted; recent or running ones must not be touched. */
export function retain(books: Books, { ageMs, limit }: { ageMs: number; limit: number }): boolean {
  const beforeMs = books.nowMs() - ageMs;
  const below = firstIdAt(beforeMs);
  const due = [...books.deliveries].filter(([, { state }]) => state === 'due');
  const rowsBefore = countRows(books);
  const { expired, deleted, isMore } = books.store.edit('retain', { beforeMs, limit });
  assert(deleted <= limit);
  // Deliveries that expired and were deleted in one step have no row left.
  const ended = due.filter(([key]) => !isLive(books, key));
  assert.equal(rowsBefore - countRows(books), deleted);
  assert(expired <= ended.length && ended.length <= limit);
  books.counts.dead += expired;
  books.counts.cancelled += ended.length - expired;
  for (const [key] of ended) {
    assert(key < below, 'a recent delivery has expired');
    books.set(key, endOf(books, key) ?? 'dead');
  }
  for (const [key, { state }] of books.deliveries) {
    if (isLive(books, key) || endOf(books, key) !== undefined) continue;
    assert(key < below, 'a recent delivery was deleted');
    assert(state !== 'due' && state !== 'running', 'a pending delivery was deleted');
    books.deliveries.delete(key);
  }
  books.subscriptions = books.subscriptions.filter(
    (id) => books.store.read('subscription', { appNo: books.app.no, id }) !== undefined,
  );
  if (deleted > 0 && isMore) books.half = books.rows('select min(id) as id from event')[0]?.['id'];
  return isMore;
}

function isLive(books: Books, key: string): boolean {
  const [event = '', n] = key.split(' ');
  const sql = 'select 1 from delivery_live where event = ? and n = ?';
  return books.rows(sql, event, Number(n)).length > 0;
}

function endOf(books: Books, key: string): DeliveryState | undefined {
  const [event = '', n] = key.split(' ');
  const sql = 'select state from delivery_done where event = ? and n = ?';
  const [row] = books.rows(sql, event, Number(n));
  return row === undefined ? undefined : ends[Number(row['state'])];
}

/** States by their number in delivery_done. */
const ends: readonly (DeliveryState | undefined)[] = [undefined, 'delivered', 'dead', 'cancelled'];

/** Counts the rows of all tables that the retention may delete from. */
function countRows(books: Books): number {
  const tables = ['response', 'attempt', 'delivery_done', 'delivery_live', 'event'];
  const made = ['pattern', 'callback', 'lane', 'subscription'];
  const counts = [...tables, ...made].map((table) => `(select count(*) from ${table})`);
  return Number(books.rows(`select ${counts.join(' + ')} as n`)[0]?.['n']);
}

/** Keeps all statistics, so that they can be added up. */
export function tidyStatistics(books: Books, limit: number): void {
  const keepMs = books.nowMs();
  const ofSubscriptions = { subscriptionFineMs: keepMs, subscriptionKeepMs: keepMs };
  const input = { appKeepMs: keepMs, ...ofSubscriptions, limit };
  const { moved, isMore } = books.store.edit('tidyStatistics', input);
  assert(moved <= limit && isMore === (moved === limit));
}
