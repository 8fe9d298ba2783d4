// Claim: leases pending deliveries to a node, lane by lane. Apps take turns, and of each app the
// lanes come first that have been ready longest. It never reads rows of lanes that are full, held,
// broken or not ready.
import type { DatabaseSync } from 'node:sqlite';
import type { Leased } from '../../../core/domain/delivery.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import { look, never, room } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { laneColumns, toLane } from '../../verbs/shared/lanes.ts';
import { prepareLanes } from '../publish/lanes.ts';
import { toLeased } from '../../batch/leased-row.ts';
import { fairOrder } from '../../rules/fair-order.ts';
import { integer } from '../../sql/row.ts';
import type { OfferSlots } from '../../rules/offer-slots.ts';

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

export type Claim = (slots: OfferSlots, nowMs: number) => Leased[];

export function prepareClaim(db: DatabaseSync): Claim {
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
    const most = limits.claimLanesMax + slots.fullMax();
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
    const most = room(lane, nowMs, { free: slots.free(lane), quantum });
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
    lanes.write(lane, look(lane, nowMs, { took: claimed.length, nextMs }));
    return claimed;
  };
}
