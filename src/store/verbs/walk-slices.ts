// Walks deliveries slice by slice, newest first: what waits or runs in an app, or all that one
// subscription has in the queue and in the history.
import type { Position } from '../cursor.ts';
import type { Row } from '../row.ts';
import { integer, maybe, text } from '../row.ts';
import type { Script } from '../statement.ts';
import { all, first, only } from '../statement.ts';
import type { Walk } from './fill-page.ts';
import type { Step, WalkDeliveries } from './walk.ts';

/**
 * Sorted by an expression, which is at most a slice: in the order of the primary key PostgreSQL would go
 * through all deliveries that are newer.
 */
const newestBelow = "(event, n) < (?2, ?3) order by event || '' desc, n desc limit ?4 + 0";
const ofSubscription = 'lane in (select no from lane where subscription = ?5)';

export const walkSlicesSql = {
  subscription: 'select no from subscription where id = ?1 and app = ?2',
  liveSlice: 'select max(slice) as slice from delivery_live where slice <= ?1',
  doneSlice: 'select max(slice) as slice from delivery_done where slice <= ?1',
  live: `
    select event, n, slice from delivery_live where slice = ?1 and app = ?5 and ${newestBelow}`,
  liveOfSubscription: `
    select event, n, slice from delivery_live
    where slice = ?1 and app = ?6 and ${ofSubscription} and ${newestBelow}`,
  doneOfSubscription: `
    select event, n, slice from delivery_done
    where slice = ?1 and ${ofSubscription} and ${newestBelow}`,
} as const;

const rowsAtOnce = 256;

interface Side {
  slice: string;
  rows: (slice: number, below: Name) => Script<readonly Row[]>;
}

interface Name {
  event: string;
  n: number;
}

export const walkLive: WalkDeliveries = ({ appNo, below }) => {
  const live: Side = {
    slice: walkSlicesSql.liveSlice,
    rows: (slice, { event, n }) => all(walkSlicesSql.live, slice, event, n, rowsAtOnce, appNo),
  };
  return walkSlices([live], below);
};

export const walkOfSubscription: WalkDeliveries = function* ({ appNo, filter, below }) {
  const { subscription: id = '', state } = filter;
  const found = yield* first(walkSlicesSql.subscription, id, appNo);
  if (found === undefined) return;
  const no = integer(found, 'no');
  const waiting: Side = {
    slice: walkSlicesSql.liveSlice,
    rows: (slice, { event, n }) =>
      all(walkSlicesSql.liveOfSubscription, slice, event, n, rowsAtOnce, no, appNo),
  };
  const ended: Side = {
    slice: walkSlicesSql.doneSlice,
    rows: (slice, { event, n }) =>
      all(walkSlicesSql.doneOfSubscription, slice, event, n, rowsAtOnce, no),
  };
  const isPending = state === 'due' || state === 'running';
  const sides = isPending ? [waiting] : state === undefined ? [waiting, ended] : [ended];
  yield* walkSlices(sides, below);
};

function* walkSlices(sides: readonly Side[], below: Position): Walk<Step> {
  let slice = yield* sliceAt(sides, below.slice);
  while (slice > 0) {
    let from: Name = slice === below.slice ? below : { event: '~', n: 0 };
    for (let isMore = true; isMore;) {
      const found: (Step & Name)[] = [];
      for (const { rows } of sides) found.push(...(yield* rows(slice, from)).map(toStep));
      const steps = found.sort(newestFirst).slice(0, rowsAtOnce);
      for (const step of steps) yield step;
      from = steps.at(-1) ?? from;
      isMore = steps.length === rowsAtOnce;
    }
    yield { slice, event: '', n: undefined };
    slice = yield* sliceAt(sides, slice - 1);
  }
}

/** The newest slice that has anything, or 0. */
function* sliceAt(sides: readonly Side[], most: number): Script<number> {
  let newest = 0;
  for (const { slice } of sides) {
    const found = maybe(integer, yield* only(slice, most), 'slice') ?? 0;
    newest = Math.max(newest, found);
  }
  return newest;
}

function toStep(row: Row): Step & Name {
  return { slice: integer(row, 'slice'), event: text(row, 'event'), n: integer(row, 'n') };
}

function newestFirst(a: Name, b: Name): number {
  if (a.event !== b.event) return a.event < b.event ? 1 : -1;
  return b.n - a.n;
}
