// Writes the entries of the audit trail that a batch of edits leaves, in one statement.
import type { EditCall, EditReply } from '../../port/transport-protocol.ts';
import { auditOf, auditValues } from '../../verbs/shared/audit.ts';
import type { Tx } from '../connection/tx.ts';

export const auditAllSql = {
  // In the order of the edits.
  insert: `
    insert into audit
      (app, at_ms, actor, key, is_bound, address, request_id, action, object, customer, details)
    select app, at_ms, actor, key, is_bound, address, request_id, action, object, customer, details
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::int[], $6::text[],
      $7::text[], $8::text[], $9::text[], $10::text[], $11::text[]) with ordinality
      as x (app, at_ms, actor, key, is_bound, address, request_id, action, object, customer,
        details, i)
    order by i`,
} as const;

const columns = 11;

/** `replies`: to the first ones of the edits. */
export async function writeAudits(
  tx: Tx,
  { edits, replies }: { edits: readonly EditCall[]; replies: readonly EditReply[] },
  nowMs: number,
): Promise<void> {
  const rows = replies.flatMap((reply, i) => {
    const call = edits[i];
    const audit =
      call === undefined || reply.kind !== 'done' ? undefined : auditOf(call, reply.output);
    return audit === undefined ? [] : [auditValues(audit, nowMs)];
  });
  if (rows.length === 0) return;
  const values = Array.from({ length: columns }, (_, at) => rows.map((row) => row[at] ?? null));
  await tx.query(auditAllSql.insert, values);
}
