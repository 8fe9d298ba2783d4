// What a batch does after its outcomes and edits: a claim, and then one step of a large fan-out.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import type { Leased } from '../../../core/domain/delivery.ts';
import { laneAfterClaim, never, claimRoom, type Lane } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { toLeased } from '../../verbs/shared/delivery.ts';
import type { FreshDelivery, WorkOffers } from '../../port/delivery-verbs.ts';
import { filterListeners, toFoundListener, type FoundListener } from '../../rules/listeners.ts';
import { fairOrder } from '../../rules/fair-order.ts';
import {
  stepFor,
  toFanningOut,
  type FanningOut,
  type ListenerPage,
  type StalledFanOuts,
} from '../../rules/fan-outs.ts';
import { insertLeasesFor, laneOf, type OfferSlots } from '../../rules/offer-slots.ts';
import { integer, text, type Row } from '../../sql/row.ts';
import { discardOnFailure } from '../../statistics/transaction-facts.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import { prepareLanes } from '../publish/lanes.ts';
import { prepareMakeDelivery } from '../publish/make-delivery.ts';
import { prepareFilters, prepareSkips } from '../publish/match.ts';
import type { InsertContext } from '../transaction/edit.ts';
import { applyAlone } from '../transaction/transaction.ts';

export interface Claimed {
  claimed: readonly Leased[];
  fannedOut: readonly Leased[];
  /** Slots of the offer that are left; undefined when there was no offer. */
  slots: OfferSlots | undefined;
}

/**
 * `fresh`: deliveries that the edits of the batch inserted already leased. All offers share one
 * window.
 */
type Taking = Pick<InsertContext, 'nowMs' | 'facts'> & { fresh: readonly FreshDelivery[] };

export function prepareClaimAndFanOut(
  db: DatabaseSync,
  stalled: StalledFanOuts,
): (offers: WorkOffers, taking: Taking) => Claimed {
  const claim = prepareClaim(db);
  const fanOut = prepareFanOut(db, stalled);
  return (offers, { nowMs, facts, fresh }) => {
    const { slots } = insertLeasesFor(offers.claim);
    for (const one of fresh) slots.take(laneOf(one));
    const claimed = offers.claim === undefined ? [] : claim(slots, nowMs);
    const insertLeases = insertLeasesFor(offers.fanOut);
    for (const one of [...fresh, ...claimed]) insertLeases.slots.take(laneOf(one));
    const fannedOut = offers.fanOut === undefined ? [] : fanOut({ nowMs, insertLeases, facts });
    if (offers.claim !== undefined) return { claimed, fannedOut, slots };
    return { claimed, fannedOut, slots: offers.fanOut && insertLeases.slots };
  };
}

// Claim: leases pending deliveries to a node, lane by lane. Apps take turns, and of each app the
// lanes come first that have been ready longest. It never reads rows of lanes that are full, held,
// broken or not ready.

// A partial index is used only if its condition appears verbatim in the query.
export const claimSql = {
  lanes: `
    select ${laneColumns} from lane where ready_ms <= ? and ready_ms < 9007199254740991
    order by ready_ms, no limit ? + 0`,
  nextApp: `
    select app from lane where app > ? and ready_ms < 9007199254740991 order by app limit 1`,
  lanesOfApp: `
    select ${laneColumns} from lane
    where app = ? and ready_ms <= ? and ready_ms < 9007199254740991
    order by ready_ms, no limit ? + 0`,
  readyLane: `select ${laneColumns} from lane where no = ? and ready_ms <= ?`,
  due: `
    select delivery_live.event, n, callback, tries, attempts, name, payload, trace
    from delivery_live join event on event.id = delivery_live.event
    where lane = ? and lease is null and due_ms <= ?
    order by due_ms, delivery_live.event, n limit ? + 0`,
  lease: 'update delivery_live set lease = ? where event = ? and n = ?',
  next: 'select due_ms from delivery_live where lane = ? and lease is null order by due_ms limit 1',
} as const;

type Claim = (slots: OfferSlots, nowMs: number) => Leased[];

function prepareClaim(db: DatabaseSync): Claim {
  const readyLanes = prepareReadyLanes(db);
  const takeFrom = prepareTake(db);
  return (slots, nowMs) => {
    const open = fairOrder(readyLanes(slots, nowMs), slots).slice(0, limits.claimLanesMax);
    // A few rows of each lane; when few lanes are ready, they share all the room.
    const share = Math.floor(slots.room() / Math.max(open.length, 1));
    const quantum = Math.max(limits.lookRowsMax, share);
    const claimed: Leased[] = [];
    for (const lane of open) {
      if (slots.room() <= 0) break;
      claimed.push(...takeFrom(lane, { slots, nowMs, quantum }));
    }
    return claimed;
  };
}

/** The ready lanes that have room. If there are too many to look at, some of every app in turn. */
function prepareReadyLanes(db: DatabaseSync): (slots: OfferSlots, nowMs: number) => Lane[] {
  const first = db.prepare(claimSql.lanes);
  const nextApp = db.prepare(claimSql.nextApp);
  const lanesOfApp = db.prepare(claimSql.lanesOfApp);
  const readyLane = db.prepare(claimSql.readyLane);
  /** The app that the last claim ended with, if there are too many apps for one claim. */
  let lastApp = 0;
  return (slots, nowMs) => {
    const most = slots.hasFullApp()
      ? limits.claimLanesBesideFull
      : limits.claimLanesMax + slots.fullMax();
    const found = first.all(nowMs, most).map(toLane);
    const isAll = found.length < most;
    if (isAll) return found.filter((lane) => !slots.isFull(lane));
    const full = slots.fullApps();
    const passedOver = new Set([...full.whole, ...full.unproven]);
    for (const no of full.proven) found.push(...readyLane.all(no, nowMs).map(toLane));
    const lanesMax = limits.claimAppLanesMax + slots.fullMax();
    for (let apps = 0; apps < limits.claimAppsMax; apps += 1) {
      const row = nextApp.get(lastApp);
      lastApp = row === undefined ? 0 : integer(row, 'app');
      if (row === undefined) break;
      if (passedOver.has(lastApp)) continue;
      found.push(...lanesOfApp.all(lastApp, nowMs, lanesMax).map(toLane));
    }
    const lanes = new Map(found.map((lane) => [lane.no, lane]));
    return [...lanes.values()].filter((lane) => !slots.isFull(lane));
  };
}

interface Look {
  slots: OfferSlots;
  nowMs: number;
  quantum: number;
}

/** One look at a lane: leases what it may, and records when to look again. */
function prepareTake(db: DatabaseSync): (lane: Lane, look: Look) => Leased[] {
  const due = db.prepare(claimSql.due);
  const lease = db.prepare(claimSql.lease);
  const next = db.prepare(claimSql.next);
  const lanes = prepareLanes(db);
  return (lane, { slots, nowMs, quantum }) => {
    const most = claimRoom(lane, nowMs, { free: slots.free(lane), quantum });
    const untilMs = lane.ordered ? never : nowMs;
    const taken = most === 0 ? [] : due.all(lane.no, untilMs, most);
    const claimed = taken.map((row): Leased => {
      const leased = toLeased(row, lane, slots.lease);
      lease.run(slots.lease, leased.event, leased.n);
      slots.take(lane);
      return leased;
    });
    const left = next.get(lane.no);
    const nextMs = left === undefined ? undefined : integer(left, 'due_ms');
    lanes.write(lane, laneAfterClaim(lane, nowMs, { took: claimed.length, nextMs }));
    return claimed;
  };
}

// One step of the oldest large fan-out. Its next deliveries and its cursor commit together, so a
// crash neither loses nor duplicates any. It reaches the callbacks that were subscribed when the
// event was accepted and whose filter matches now. Each step parses the payload again if any of its
// callbacks has a filter.

const alive = 'born <= :version and (died is null or died > :version)';

export const fanOutSql = {
  oldest: `
    select fanout.event, fanout.app, contract, version, names, step, callback, made,
      event.name, event.slice, event.payload, event.trace, event.skipped
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
type FanOut = (context: InsertContext) => readonly Leased[];

/**
 * A fan-out that cannot continue is skipped: otherwise it would block all others, again after
 * every start.
 */
function prepareFanOut(db: DatabaseSync, stalled: StalledFanOuts): FanOut {
  const oldest = db.prepare(fanOutSql.oldest);
  const take = prepareStep(db);
  return (context) => {
    const row = oldest.get(stalled.upTo(), stalled.list());
    if (row === undefined) return [];
    const apply = (): Leased[] => discardOnFailure(context.facts, () => take(row, context));
    const taken = applyAlone(db, { verb: 'fanOut', apply });
    if (taken.kind === 'done') return taken.output;
    stalled.add(text(row, 'event'), taken.message);
    return [];
  };
}

function prepareStep(db: DatabaseSync): (row: Row, context: InsertContext) => Leased[] {
  const move = db.prepare(fanOutSql.move);
  const count = db.prepare(fanOutSql.count);
  const end = db.prepare(fanOutSql.end);
  const make = prepareMakeDelivery(db);
  const next = prepareNext(db);
  const withRules = prepareFilters(db);
  const withoutSkipped = prepareSkips(db);

  return (row, context) => {
    const fanningOut = toFanningOut(row);
    const { event, appNo, slice, cursor, sent, skipped } = fanningOut;
    const { listeners, after } = next(fanningOut, stepFor(context.insertLeases.slots, fanningOut));
    let { made } = fanningOut;
    const matching = filterListeners(withRules(listeners, new Map()), sent.payload);
    for (const listener of withoutSkipped(matching, skipped)) {
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
    const { fresh, slots } = context.insertLeases;
    return fresh.map((each) => ({ ...each, ...sent, tries: 0, attempts: 0, lease: slots.lease }));
  };
}

function prepareNext(
  db: DatabaseSync,
): (fanningOut: FanningOut, most: number) => ListenerPage<FoundListener> {
  const listeners = db.prepare(fanOutSql.listeners);
  const patterns = db.prepare(fanOutSql.patterns);
  return ({ appNo: app, contract, version, names, cursor: { step, callback } }, most) => {
    const found: FoundListener[] = [];
    let left = most;
    let from = callback;
    for (const [index, pattern] of names.entries()) {
      if (index < step) continue;
      const input = { app, contract, version, pattern, callback: from, limit: left };
      const rows = listeners.all(input);
      const earlier = names.slice(0, index);
      for (const row of rows) {
        const listener = toFoundListener(row, toLane(row));
        from = listener.callback;
        const isMatchedEarlier =
          index > 0 &&
          patterns
            .all({ callback: from, version })
            .some((each) => earlier.includes(text(each, 'pattern')));
        if (listener.lane.state !== 'ended' && !isMatchedEarlier) found.push(listener);
      }
      left -= rows.length;
      if (left === 0) return { listeners: found, after: { step: index, callback: from } };
      from = 0;
    }
    return { listeners: found, after: undefined };
  };
}
