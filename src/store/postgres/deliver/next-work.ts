// What to do next: when the next lane is ready, and whether a large fan-out is running.
import type { OfferSlots } from '../../rules/offer-slots.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { StalledFanOuts } from '../../rules/fan-outs.ts';
import type { NextWork } from '../../port/delivery-verbs.ts';
import { type Row, integer, maybe, one } from '../../sql/row.ts';
import type { Done } from '../connection/transact.ts';
import type { Tx } from '../connection/tx.ts';
import { hasRoom, readyApps, slotsJson } from './lane-room-sql.ts';

const fanOut = 'select from fanout where event > $1 and event <> all($2::text[])';

export const nextWorkSql = {
  // Full lanes do not count: a freed slot triggers another look.
  ahead: `
    select exists (${fanOut}) as is_fanning_out, (
      select ready_ms from lane where ready_ms < 9007199254740991 and ${hasRoom('$3', '$4')}
      order by ready_ms, no limit 1) as ready_ms`,
  // The same if apps are full: skips their lanes, except proven lanes of apps that still accept
  // those.
  aheadByApp: `
    ${readyApps('0', '$5', '$7')}
    select exists (${fanOut}) as is_fanning_out, least((
      select min(first.ready_ms) from apps cross join lateral (
        select ready_ms from lane
        where lane.app = apps.app and ready_ms < 9007199254740991 and ${hasRoom('$3', '$4')}
        order by ready_ms, no limit 1) first), (
      select min(ready_ms) from lane
      where no = any($6::bigint[]) and app <> all($8::bigint[])
        and ready_ms + 0 < 9007199254740991 and ${hasRoom('$3', '$4')})) as ready_ms`,
  fanOut: `select exists (${fanOut}) as is_fanning_out`,
} as const;

/**
 * `readyMs` is undefined if no lane will ever be ready. Without slots it is unknown which lanes are
 * full, so only fan-outs are looked for.
 */
export async function findNextWork(
  tx: Tx,
  slots: OfferSlots | undefined,
  stalled: StalledFanOuts,
): Promise<NextWork> {
  const [row] = await ask(tx, slots, [stalled.upTo(), stalled.events()]);
  const ahead = one(row);
  const readyMs = slots && maybe(integer, ahead, 'ready_ms');
  return { readyMs, isFanningOut: ahead['is_fanning_out'] === true };
}

async function ask(
  tx: Tx,
  slots: OfferSlots | undefined,
  passedOver: readonly [string, readonly string[]],
): Promise<readonly Row[]> {
  if (slots === undefined) return tx.query(nextWorkSql.fanOut, passedOver);
  const room = [...passedOver, slotsJson(slots), slots.laneRoom];
  const { whole, unproven, proven } = slots.fullApps();
  if (whole.length + unproven.length === 0) return tx.query(nextWorkSql.ahead, room);
  const full = [...whole, ...unproven];
  return tx.query(nextWorkSql.aheadByApp, [...room, full, proven, limits.nextWorkAppsMax, whole]);
}

/**
 * The end of a transaction whose next work travels with the commit. Until the answer is there, assume
 * that work is ready.
 */
export function withNextWork<T>(
  nextWork: Promise<NextWork>,
  nowMs: number,
  see: (nextWork: NextWork) => T,
): Pick<Done<T>, 'result' | 'whole'> {
  return { result: see({ readyMs: nowMs, isFanningOut: true }), whole: nextWork.then(see) };
}
