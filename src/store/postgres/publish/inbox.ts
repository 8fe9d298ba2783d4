// The inbox: events that were published by SQL and have not been checked yet.
import { isCustomer, isSubject } from '../../../core/domain/pattern.ts';
import { limits } from '../../../core/limits/limits.ts';
import { bytes, integer, maybe, text, toQuotas } from '../../sql/row.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import { noticeRejected } from '../../verbs/shared/notices.ts';
import type { Slices } from './slices.ts';
import type { Tx } from '../connection/tx.ts';

export const inboxSql = {
  // Materialized: otherwise the inner query may run more than once and take more rows.
  take: `
    with free as materialized (
      select no, length(payload) as bytes from inbox
      where taken_ms is null or taken_ms < $1::bigint - $2::bigint
      order by no limit $3 for update skip locked),
    few as (
      select no from (select no, sum(bytes) over (order by no) - bytes as before from free) as x
      where before < $4::bigint)
    update inbox set taken_ms = $1::bigint from few where inbox.no = few.no
    returning inbox.no, id, app, name, subject, customer, payload,
      (select settings from app where app.no = inbox.app) as settings`,
  // The same condition without a transaction, so that polling an empty inbox writes nothing.
  isAny: `
    select no from inbox where taken_ms is null or taken_ms < $1::bigint - $2::bigint
    order by no limit 1`,
  remove: 'delete from inbox where no = $1 returning id, app, name, subject, customer, payload',
  ids: 'select id from inbox where no = any($1::bigint[])',
  reject: `
    insert into event
      (id, app, name, slice, created_ms, subject, customer, deliveries, payload, rejected)
    values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9)`,
} as const;

export async function isInboxEmpty(
  tx: Tx,
  { forMs }: Pick<EditInput<'takeInbox'>, 'forMs'>,
  nowMs: number,
): Promise<boolean> {
  return (await tx.query(inboxSql.isAny, [nowMs, forMs])).length === 0;
}

export async function takeInbox(
  tx: Tx,
  { limit, forMs }: EditInput<'takeInbox'>,
  nowMs: number,
): Promise<EditOutput<'takeInbox'>> {
  const rows = await tx.query(inboxSql.take, [nowMs, forMs, limit, limits.batchPayloadBytesMax]);
  const entries = rows.map((row) => ({
    no: integer(row, 'no'),
    id: text(row, 'id'),
    appNo: integer(row, 'app'),
    quotas: toQuotas(row),
    name: text(row, 'name'),
    subject: maybe(text, row, 'subject'),
    customer: maybe(text, row, 'customer'),
    payload: bytes(row, 'payload'),
  }));
  return { entries: entries.sort((a, b) => a.no - b.no) };
}

/** The ids of those entries that still exist. */
export async function inboxIds(tx: Tx, numbers: readonly number[]): Promise<string[]> {
  const rows = await tx.query(inboxSql.ids, [numbers]);
  return rows.map((row) => text(row, 'id'));
}

export async function rejectInbox(
  tx: Tx,
  { no, reason }: EditInput<'rejectInbox'>,
  { nowMs, slices }: { nowMs: number; slices: Slices },
): Promise<EditOutput<'rejectInbox'>> {
  const [row] = await tx.query(inboxSql.remove, [no]);
  if (row === undefined) return { kind: 'taken' };
  const slice = await slices.take(tx, 1, nowMs);
  await slices.cover(tx, [{ event: text(row, 'id'), slice }], nowMs);
  const event = [text(row, 'id'), integer(row, 'app'), text(row, 'name'), slice, nowMs];
  const [subject, customer] = [maybe(text, row, 'subject'), maybe(text, row, 'customer')];
  const owner = [
    subject !== undefined && isSubject(subject) ? subject : null,
    customer !== undefined && isCustomer(customer) ? customer : null,
  ];
  await tx.query(inboxSql.reject, [...event, ...owner, bytes(row, 'payload'), reason]);
  const facts = { event: text(row, 'id'), eventName: text(row, 'name'), reason, atMs: nowMs };
  await tx.run(noticeRejected(integer(row, 'app'), facts));
  return { kind: 'rejected' };
}
