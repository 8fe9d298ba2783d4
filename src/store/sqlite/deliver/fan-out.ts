// One step of the oldest large fan-out. Its next deliveries and its cursor commit together, so a
// crash neither loses nor duplicates any. It reaches the callbacks that were subscribed when the
// event was accepted and whose filter matches now. Each step parses the payload again if any of its
// callbacks has a filter.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import type { Leased } from '../../../core/domain/delivery.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import { prepareFilters } from '../publish/filters.ts';
import { prepareMakeDelivery } from '../publish/make-delivery.ts';
import type { FanningOut, Piece } from '../../rules/fan-out-row.ts';
import { stepFor, toFanningOut } from '../../rules/fan-out-row.ts';
import type { Found } from '../../rules/filter-cache.ts';
import { toFound } from '../../rules/filter-cache.ts';
import { fitting } from '../../port/listener.ts';
import { unlessUndone } from '../../statistics/transaction-facts.ts';
import { text, type Row } from '../../sql/row.ts';
import type { StalledFanOuts } from '../../rules/stalled-fan-outs.ts';
import type { BirthContext } from '../transaction/edit.ts';
import { applyAlone } from '../transaction/transaction.ts';

const alive = 'born <= :version and (died is null or died > :version)';

export const fanOutSql = {
  oldest: `
    select fanout.event, fanout.app, contract, version, names, step, callback, made,
      event.name, event.slice, event.payload, event.trace
    from fanout join event on event.id = fanout.event
    where fanout.event > ? and fanout.event not in (select value from json_each(?))
    order by fanout.event limit 1`,
  listeners: `
    select pattern.callback, filtered, lane.subscription, ${laneColumns}
    from pattern join lane on lane.no = pattern.lane
    where pattern.app = :app and contract = :contract and pattern = :pattern
      and pattern.callback > :callback and ${alive}
    order by pattern.callback limit :limit + 0`,
  patterns: `select pattern from pattern where callback = :callback and ${alive}`,
  move: `
    update fanout set step = :step, callback = :callback, made = :made
    where event = :event and step = :oldStep and callback = :oldCallback`,
  count: 'update event set deliveries = ? where id = ?',
  end: 'delete from fanout where event = ?',
} as const;

/** Returns the deliveries that were inserted already leased. */
export type FanOut = (context: BirthContext) => readonly Leased[];

/**
 * A fan-out that cannot continue is set aside: otherwise it would block all others, again after
 * every start.
 */
export function prepareFanOut(db: DatabaseSync, aside: StalledFanOuts): FanOut {
  const oldest = db.prepare(fanOutSql.oldest);
  const take = prepareStep(db);
  return (context) => {
    const row = oldest.get(aside.upTo(), aside.list());
    if (row === undefined) return [];
    const apply = (): Leased[] => unlessUndone(context.facts, () => take(row, context));
    const taken = applyAlone(db, { verb: 'fanOut', apply });
    if (taken.kind === 'done') return taken.output;
    aside.add(text(row, 'event'), taken.message);
    return [];
  };
}

function prepareStep(db: DatabaseSync): (row: Row, context: BirthContext) => Leased[] {
  const move = db.prepare(fanOutSql.move);
  const count = db.prepare(fanOutSql.count);
  const end = db.prepare(fanOutSql.end);
  const make = prepareMakeDelivery(db);
  const next = prepareNext(db);
  const withRules = prepareFilters(db);

  return (row, context) => {
    const fanningOut = toFanningOut(row);
    const { event, appNo, slice, cursor, sent } = fanningOut;
    const { listeners, after } = next(fanningOut, stepFor(context.births.slots, fanningOut));
    let { made } = fanningOut;
    for (const listener of fitting(withRules(listeners, new Map()), sent.payload)) {
      make({ event, n: made, appNo, slice, ...listener }, context);
      made += 1;
    }
    if (after === undefined) {
      count.run(made, event);
      end.run(event);
    } else {
      const { step: oldStep, callback: oldCallback } = cursor;
      const moved = move.run({ event, oldStep, oldCallback, made, ...after });
      assert.equal(moved.changes, 1, `Cannot move the fan-out of "${event}": it is elsewhere`);
    }
    const { born, slots } = context.births;
    return born.map((each) => ({ ...each, ...sent, tries: 0, attempts: 0, lease: slots.lease }));
  };
}

function prepareNext(db: DatabaseSync): (fanningOut: FanningOut, most: number) => Piece<Found> {
  const listeners = db.prepare(fanOutSql.listeners);
  const patterns = db.prepare(fanOutSql.patterns);
  return ({ appNo: app, contract, version, names, cursor: { step, callback } }, most) => {
    const found: Found[] = [];
    let left = most;
    let from = callback;
    for (const [index, pattern] of names.entries()) {
      if (index < step) continue;
      const input = { app, contract, version, pattern, callback: from, limit: left };
      const rows = listeners.all(input);
      const earlier = names.slice(0, index);
      for (const row of rows) {
        const listener = toFound(row, toLane(row));
        from = listener.callback;
        const isHeardBefore =
          index > 0 &&
          patterns
            .all({ callback: from, version })
            .some((each) => earlier.includes(text(each, 'pattern')));
        if (listener.lane.state !== 'ended' && !isHeardBefore) found.push(listener);
      }
      left -= rows.length;
      if (left === 0) return { listeners: found, after: { step: index, callback: from } };
      from = 0;
    }
    return { listeners: found, after: undefined };
  };
}
