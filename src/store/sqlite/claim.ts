// Claim: leases waiting deliveries to a node, lane by lane, those first that have been ready for the
// longest. It never sees the rows of a lane that is full, held, broken or waiting for its time.
import type { DatabaseSync } from 'node:sqlite';
import type { Leased } from '../../core/delivery.ts';
import type { Lane } from '../../core/lane.ts';
import { look, never, room } from '../../core/lane.ts';
import { limits } from '../../core/limits.ts';
import { laneColumns, toLane } from '../verbs/lanes.ts';
import { prepareLanes } from './lanes.ts';
import { toLeased } from '../leased-row.ts';
import { integer } from '../row.ts';
import type { Slots } from '../slots.ts';

// A partial index is used only if its condition stands in the query word for word.
export const claimSql = {
  lanes: `
    select ${laneColumns} from lane where ready_ms <= ? and ready_ms < 9007199254740991
    order by ready_ms, no limit ? + 0`,
  due: `
    select delivery_live.event, n, callback, tries, attempts, name, payload, trace
    from delivery_live join event on event.id = delivery_live.event
    where lane = ? and lease is null and due_ms <= ?
    order by due_ms, delivery_live.event, n limit ? + 0`,
  lease: 'update delivery_live set lease = ? where event = ? and n = ?',
  next: 'select due_ms from delivery_live where lane = ? and lease is null order by due_ms limit 1',
} as const;

export type Claim = (slots: Slots, nowMs: number) => Leased[];

export function prepareClaim(db: DatabaseSync): Claim {
  const ready = db.prepare(claimSql.lanes);
  const takeFrom = prepareTake(db);
  return (slots, nowMs) => {
    const open = ready
      .all(nowMs, limits.claimLanesMax + slots.fullMax())
      .map(toLane)
      .filter((lane) => !slots.isFull(lane))
      .slice(0, limits.claimLanesMax);
    // A few rows of each lane; when few lanes are ready, they share all the room there is.
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

interface Look {
  slots: Slots;
  nowMs: number;
  quantum: number;
}

/** One look at a lane: takes what it may, and writes down when to look again. */
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
      slots.take(lane.no);
      return leased;
    });
    const left = next.get(lane.no);
    const nextMs = left === undefined ? undefined : integer(left, 'due_ms');
    lanes.write(lane, look(lane, nowMs, { took: claimed.length, nextMs }));
    return claimed;
  };
}
