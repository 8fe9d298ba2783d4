// The audit trail, as its actor may see it: a customer sees what is about itself, and of other actors only their kind.
import { actorSeenBy, type AuditEntry } from '../../core/domain/audit.ts';
import { customerOf, type Actor } from '../../core/domain/app.ts';
import type { AuditFilter } from '../../store/port/audit-verbs.ts';
import type { Page, PageInput } from '../../store/port/store.ts';
import type { Context } from '../context.ts';

export interface AuditQuery extends Omit<AuditFilter, 'isOfBoundKey'> {
  page: PageInput;
}

export async function listAudit(
  { store }: Pick<Context, 'store'>,
  app: Actor,
  { page, ...query }: AuditQuery,
): Promise<Page<AuditEntry>> {
  const customer = customerOf(app, query.customer, 'query.customer');
  // Otherwise the filter would tell a customer which entries are by a key that it must not see.
  const isOfBoundKey = app.customer !== undefined && query.keyId !== undefined;
  const filter = { ...query, customer, isOfBoundKey };
  const { items, next } = await store.read('audit', { appNo: app.no, page, filter });
  return { items: items.map((one) => ({ ...one, by: actorSeenBy(app.customer, one.by) })), next };
}
