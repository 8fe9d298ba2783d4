// The ways through the deliveries of an app, newest first. A walk gives names; a step that leads to
// nothing says only how far it has come. No step names what belongs to another app.
import type { DatabaseSync } from 'node:sqlite';
import type { Position } from '../cursor.ts';
import type { Row } from './row.ts';
import { integer, text } from './row.ts';
import type { Step, Walk } from './walk.ts';
import { prepareWalkEvents } from './walk-events.ts';
import { prepareSliceWalks } from './walk-slices.ts';

const newestBelow = '(event, n) < (:event, :n) order by event desc, n desc limit :limit + 0';

export const walkDeliveriesSql = {
  owned: 'select slice from event where id = ? and app = ?',
  ofEvent: `
    select n from delivery_live where event = :event and n < :n
    union all select n from delivery_done where event = :event and n < :n
    order by n desc limit :limit + 0`,
  running: `
    select event, n, slice from delivery_live indexed by delivery_running
    where lease is not null and app = :app and ${newestBelow}`,
  dead: `
    select event, n, slice from delivery_done where app = :app and state = 2 and ${newestBelow}`,
} as const;

export interface DeliveryWalk {
  ofEvent: Walk;
  ofSubscription: Walk;
  byEvents: Walk;
  live: Walk;
  running: Walk;
  dead: Walk;
}

const rowsAtOnce = 256;
/** Above every number of a delivery. */
const newestN = 1_000_000_000;

export function prepareWalkDeliveries(db: DatabaseSync): DeliveryWalk {
  const running = db.prepare(walkDeliveriesSql.running);
  const dead = db.prepare(walkDeliveriesSql.dead);
  const numbers = prepareNumbers(db);
  const limit = rowsAtOnce;
  return {
    ...prepareSliceWalks(db, rowsAtOnce),
    ofEvent: ({ appNo, filter: { event = '' }, below }) =>
      numbers.ofOwn(appNo, { ...below, event, n: below.event === event ? below.n : newestN }),
    byEvents: prepareByEvents(db),
    running: ({ appNo: app, below }) =>
      inPieces(below, ({ event, n }) => running.all({ app, event, n, limit })),
    dead: ({ appNo: app, below }) =>
      inPieces(below, ({ event, n }) => dead.all({ app, event, n, limit })),
  };
}

interface Numbers {
  /** The deliveries of one event below a number. */
  of(below: Position): Generator<Step>;
  /** The same, if the event is the app's. */
  ofOwn(appNo: number, below: Position): Generator<Step>;
}

function prepareNumbers(db: DatabaseSync): Numbers {
  const ofEvent = db.prepare(walkDeliveriesSql.ofEvent);
  const owned = db.prepare(walkDeliveriesSql.owned);
  const of = ({ slice, event, n: newest }: Position): Generator<Step> =>
    inPieces({ slice, event, n: newest }, ({ n }) =>
      ofEvent.all({ event, n, limit: rowsAtOnce }).map((row) => ({ ...row, slice, event })),
    );
  return {
    of,
    *ofOwn(appNo, below) {
      const event = owned.get(below.event, appNo);
      if (event !== undefined) yield* of({ ...below, slice: integer(event, 'slice') });
    },
  };
}

function prepareByEvents(db: DatabaseSync): Walk {
  const events = prepareWalkEvents(db);
  const numbers = prepareNumbers(db);
  return function* byEvents({ appNo, filter: { name }, below }) {
    yield* numbers.ofOwn(appNo, below); // What is left of the event where the page before ended.
    for (const { slice, event } of events({ appNo, name, below })) {
      if (event !== '') yield* numbers.of({ slice, event, n: newestN });
      yield { slice, event, n: undefined };
    }
  };
}

/** Piece by piece, so that a long list is read only as far as it is needed. */
function* inPieces(start: Position, rowsBelow: (below: Position) => Row[]): Generator<Step> {
  let below = start;
  for (;;) {
    const rows = rowsBelow(below);
    for (const row of rows) {
      below = { slice: integer(row, 'slice'), event: text(row, 'event'), n: integer(row, 'n') };
      yield below;
    }
    if (rows.length < rowsAtOnce) return;
  }
}
