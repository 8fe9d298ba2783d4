// What lies ahead: when the next lane is ready, and whether a large fan-out is under way.
import { never } from '../../core/lane.ts';
import type { Aside } from '../aside.ts';
import type { Outlook } from '../delivery-verbs.ts';
import { integer } from '../row.ts';
import type { Slots } from '../slots.ts';
import { hasRoom, slotsJson } from './has-room.ts';
import type { Done } from './transact.ts';
import type { Tx } from './tx.ts';

export const outlookSql = {
  ready: `
    select ready_ms from lane where ready_ms < 9007199254740991
      and ${hasRoom('$1', '$2')}
    order by ready_ms, no limit 1`,
  fanOut: `
    select event from fanout where event > $1 and event <> all($2::text[]) order by event limit 1`,
} as const;

/** Full lanes do not count: whoever frees a slot asks again. Undefined: none is ever ready. */
export async function nextReadyMs(tx: Tx, slots: Slots): Promise<number | undefined> {
  const [row] = await tx.query(outlookSql.ready, [slotsJson(slots), slots.laneRoom]);
  const readyMs = row === undefined ? never : integer(row, 'ready_ms');
  return readyMs === never ? undefined : readyMs;
}

export async function isFanningOut(tx: Tx, aside: Aside): Promise<boolean> {
  return (await tx.query(outlookSql.fanOut, [aside.upTo(), aside.events()])).length > 0;
}

/** The end of a transaction, as seen with an outlook that leaves with its commit. Whoever does not hear it looks. */
export function seenWith<T>(
  outlook: Promise<Outlook>,
  nowMs: number,
  see: (outlook: Outlook) => T,
): Pick<Done<T>, 'result' | 'whole'> {
  return { result: see({ readyMs: nowMs, isFanningOut: true }), whole: outlook.then(see) };
}
