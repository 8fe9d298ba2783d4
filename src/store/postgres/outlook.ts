// What lies ahead: when the next lane is ready, and whether a large fan-out is under way.
import { never } from '../../core/lane.ts';
import { integer } from '../row.ts';
import type { Slots } from '../slots.ts';
import type { Tx } from './tx.ts';

export const outlookSql = {
  ready: `
    select ready_ms from lane where ready_ms < 9007199254740991
      and coalesce(($1::jsonb ->> no::text)::int, $2::int) > 0
    order by ready_ms, no limit 1`,
  fanOut: 'select event from fanout order by event limit 1',
} as const;

/** Full lanes do not count: whoever frees a slot asks again. Undefined: none is ever ready. */
export async function nextReadyMs(tx: Tx, slots: Slots): Promise<number | undefined> {
  const [row] = await tx.query(outlookSql.ready, [
    JSON.stringify(Object.fromEntries(slots.left())),
    slots.laneRoom,
  ]);
  const readyMs = row === undefined ? never : integer(row, 'ready_ms');
  return readyMs === never ? undefined : readyMs;
}

export async function isFanningOut(tx: Tx): Promise<boolean> {
  return (await tx.query(outlookSql.fanOut, [])).length > 0;
}
