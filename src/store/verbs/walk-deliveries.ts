// The ways through the deliveries of an app, newest first. A walk gives names; a step that leads to
// nothing says only how far it has come. No step names what belongs to another app.
import type { Position } from '../cursor.ts';
import type { Row } from '../row.ts';
import { integer, text } from '../row.ts';
import type { Script } from '../statement.ts';
import { all, first, forEach } from '../statement.ts';
import type { Walk } from './fill-page.ts';
import { gather } from './fill-page.ts';
import type { Step, WalkDeliveries } from './walk.ts';
import { walkEvents } from './walk-events.ts';

const newestBelow = '(event, n) < (?2, ?3) order by event desc, n desc limit ?4 + 0';

export const walkDeliveriesSql = {
  owned: 'select slice from event where id = ?1 and app = ?2',
  // Each part by itself: else PostgreSQL sorts all deliveries of the event (100,000 of them in 46 ms,
  // so in 0.4).
  ofEvent: `
    select event, n from (
      select event, n from delivery_live where event = ?1 and n < ?2
      order by n desc limit ?3 + 0) as live
    union all select event, n from (
      select event, n from delivery_done where event = ?1 and n < ?2
      order by n desc limit ?3 + 0) as done
    order by n desc limit ?3 + 0`,
  running: `
    select event, n, slice from delivery_live indexed by delivery_running
    where lease is not null and app = ?1 and ${newestBelow}`,
  dead: `
    select event, n, slice from delivery_done where app = ?1 and state = 2 and ${newestBelow}`,
} as const;

const rowsAtOnce = 256;
/** Most events have few deliveries; those that have more are asked again, each by itself. */
const eventsAtOnce = 64;
const numbersAtOnce = 8;
/** Above every number of a delivery. */
const newestN = 1_000_000_000;

export const walkOfEvent: WalkDeliveries = ({ appNo, filter: { event = '' }, below }) =>
  numbersOfOwn(appNo, { ...below, event, n: below.event === event ? below.n : newestN });

export const walkRunning: WalkDeliveries = ({ appNo, below }) =>
  inPieces(below, ({ event, n }) => all(walkDeliveriesSql.running, appNo, event, n, rowsAtOnce));

export const walkDead: WalkDeliveries = ({ appNo, below }) =>
  inPieces(below, ({ event, n }) => all(walkDeliveriesSql.dead, appNo, event, n, rowsAtOnce));

export const walkByEvents: WalkDeliveries = function* ({ appNo, filter: { name }, below }) {
  yield* numbersOfOwn(appNo, below); // What is left of the event where the page before ended.
  const events = walkEvents({ appNo, name, below });
  // A few at first: they often fill the page.
  for (let most = numbersAtOnce; ; most = Math.min(most * 2, eventsAtOnce)) {
    const passed = yield* gather(events, most);
    if (passed.length === 0) return;
    const asked = passed.filter(({ event }) => event !== '');
    const values = asked.map(({ event }) => [event, newestN, numbersAtOnce]);
    const rows = yield* forEach(walkDeliveriesSql.ofEvent, values);
    const numbers = Map.groupBy(rows, (row) => text(row, 'event'));
    for (const { slice, event } of passed) {
      let n = newestN;
      const some = numbers.get(event) ?? [];
      for (const row of some) {
        n = integer(row, 'n');
        yield { slice, event, n };
      }
      if (some.length === numbersAtOnce) yield* numbersOf({ slice, event, n });
      yield { slice, event, n: undefined };
    }
  }
};

/** The deliveries of one event below a number. */
function numbersOf({ slice, event, n: newest }: Position): Walk<Step> {
  return inPieces({ slice, event, n: newest }, function* ({ n }) {
    const rows = yield* all(walkDeliveriesSql.ofEvent, event, n, rowsAtOnce);
    return rows.map((row) => ({ ...row, slice }));
  });
}

/** The same, if the event is the app's. */
function* numbersOfOwn(appNo: number, below: Position): Walk<Step> {
  const event = yield* first(walkDeliveriesSql.owned, below.event, appNo);
  if (event !== undefined) yield* numbersOf({ ...below, slice: integer(event, 'slice') });
}

/** Piece by piece, so that a long list is read only as far as it is needed. */
function* inPieces(
  start: Position,
  rowsBelow: (below: Position) => Script<readonly Row[]>,
): Walk<Step> {
  let below = start;
  for (;;) {
    const rows = yield* rowsBelow(below);
    for (const row of rows) {
      below = { slice: integer(row, 'slice'), event: text(row, 'event'), n: integer(row, 'n') };
      yield below;
    }
    if (rows.length < rowsAtOnce) return;
  }
}
