// Walks deliveries slice by slice, newest first: what waits or runs in an app, or all that one
// subscription has in the queue and in the history.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Position } from '../cursor.ts';
import type { Row } from './row.ts';
import { integer, maybe, one, text } from './row.ts';
import type { Step, Walk } from './walk.ts';

const newestBelow = '(event, n) < (:event, :n) order by event desc, n desc limit :limit + 0';
const ofSubscription = 'lane in (select no from lane where subscription = :subscription)';

export const walkSlicesSql = {
  subscription: 'select no from subscription where id = ? and app = ?',
  liveSlice: 'select max(slice) as slice from delivery_live where slice <= ?',
  doneSlice: 'select max(slice) as slice from delivery_done where slice <= ?',
  live: `
    select event, n, slice from delivery_live where slice = :slice and app = :app and ${newestBelow}`,
  liveOfSubscription: `
    select event, n, slice from delivery_live
    where slice = :slice and app = :app and ${ofSubscription} and ${newestBelow}`,
  doneOfSubscription: `
    select event, n, slice from delivery_done
    where slice = :slice and ${ofSubscription} and ${newestBelow}`,
} as const;

interface Side {
  slice: StatementSync;
  rows: (slice: number, below: Name) => Row[];
}

interface Name {
  event: string;
  n: number;
}

export function prepareSliceWalks(
  db: DatabaseSync,
  limit: number,
): { live: Walk; ofSubscription: Walk } {
  const find = db.prepare(walkSlicesSql.subscription);
  const slices = {
    live: db.prepare(walkSlicesSql.liveSlice),
    done: db.prepare(walkSlicesSql.doneSlice),
  };
  const live = db.prepare(walkSlicesSql.live);
  const liveOf = db.prepare(walkSlicesSql.liveOfSubscription);
  const doneOf = db.prepare(walkSlicesSql.doneOfSubscription);
  return {
    live: ({ appNo: app, below }) => {
      const rows: Side['rows'] = (slice, { event, n }) => live.all({ slice, app, event, n, limit });
      return walkSlices([{ slice: slices.live, rows }], below, limit);
    },
    ofSubscription: ({ appNo: app, filter: { subscription: id = '', state }, below }) => {
      const found = find.get(id, app);
      if (found === undefined) return [];
      const subscription = integer(found, 'no');
      const waiting: Side = {
        slice: slices.live,
        rows: (slice, { event, n }) => liveOf.all({ slice, app, subscription, event, n, limit }),
      };
      const ended: Side = {
        slice: slices.done,
        rows: (slice, { event, n }) => doneOf.all({ slice, subscription, event, n, limit }),
      };
      const isPending = state === 'due' || state === 'running';
      const sides = isPending ? [waiting] : state === undefined ? [waiting, ended] : [ended];
      return walkSlices(sides, below, limit);
    },
  };
}

function* walkSlices(sides: readonly Side[], below: Position, limit: number): Generator<Step> {
  const sliceAt = (most: number): number =>
    Math.max(...sides.map((side) => maybe(integer, one(side.slice.get(most)), 'slice') ?? 0));
  for (let slice = sliceAt(below.slice); slice > 0; slice = sliceAt(slice - 1)) {
    let from: Name = slice === below.slice ? below : { event: '~', n: 0 };
    for (let isMore = true; isMore;) {
      const start = from;
      const steps = sides
        .flatMap(({ rows }) => rows(slice, start).map(toStep))
        .sort(newestFirst)
        .slice(0, limit);
      yield* steps;
      from = steps.at(-1) ?? from;
      isMore = steps.length === limit;
    }
    yield { slice, event: '', n: undefined };
  }
}

function toStep(row: Row): Step & Name {
  return { slice: integer(row, 'slice'), event: text(row, 'event'), n: integer(row, 'n') };
}

function newestFirst(a: Name, b: Name): number {
  if (a.event !== b.event) return a.event < b.event ? 1 : -1;
  return b.n - a.n;
}
