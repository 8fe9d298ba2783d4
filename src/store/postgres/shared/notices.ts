// Writes many notices at once: those of dead deliveries in one statement.
import { integer } from '../../sql/row.ts';
import type { DeadDelivery, NewNotice } from '../../verbs/shared/notices.ts';
import { noticesOfDead } from '../../verbs/shared/notices.ts';
import type { Tx } from '../connection/tx.ts';

export const manyNoticesSql = {
  // In the order in which they are published.
  insert: `
    insert into notice (app, name, payload, created_ms, customer)
    select app, name, payload, $4::bigint, customer
    from unnest($1::bigint[], $2::text[], $3::text[], $5::text[]) with ordinality
      as x (app, name, payload, customer, i)
    order by i`,
  // Waits for another node that is publishing a notice, and then finds it gone.
  leave: 'delete from notice where no = any($1::bigint[]) returning no',
} as const;

/** Writes notices of dead deliveries, if a subscription matches them. */
export async function noticeDead(
  tx: Tx,
  dead: readonly DeadDelivery[],
  nowMs: number,
): Promise<void> {
  if (dead.length > 0) await writeNotices(tx, await tx.run(noticesOfDead(dead, nowMs)), nowMs);
}

async function writeNotices(tx: Tx, notices: readonly NewNotice[], nowMs: number): Promise<void> {
  if (notices.length === 0) return;
  await tx.query(manyNoticesSql.insert, [
    notices.map(({ appNo }) => appNo),
    notices.map(({ name }) => name),
    notices.map(({ payload }) => payload),
    nowMs,
    notices.map(({ customer }) => customer ?? null),
  ]);
}

/** Deletes notices; returns those that still existed. */
export async function leaveNotices(tx: Tx, numbers: readonly number[]): Promise<Set<number>> {
  if (numbers.length === 0) return new Set();
  const inOrder = numbers.toSorted((a, b) => a - b);
  const rows = await tx.query(manyNoticesSql.leave, [inOrder]);
  return new Set(rows.map((row) => integer(row, 'no')));
}
