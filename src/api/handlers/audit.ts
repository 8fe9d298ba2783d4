// Handler of the audit trail.
import { auditActions, auditObjectKind, type AuditEntry } from '../../core/domain/audit.ts';
import type { Context } from '../../engine/context.ts';
import { listAudit } from '../../engine/read/audit.ts';
import type { Handlers } from '../request/call.ts';
import * as fields from '../request/fields.ts';

export function auditHandlers(context: Context): Handlers {
  return {
    listAuditEntries: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const action = fields.optionalText(query, 'action');
      const page = await listAudit(context, app, {
        page: fields.pageInput(request),
        action: auditActions.find((one) => one === action),
        object: fields.optionalText(query, 'object'),
        keyId: fields.optionalText(query, 'key')?.slice('rbk_'.length),
        customer: fields.optionalText(query, 'customer'),
        ...fields.timeRange(request),
      });
      const items = page.items.map(showEntry);
      return { status: 200, body: { items, nextCursor: page.next ?? null } };
    },
  };
}

function showEntry(entry: AuditEntry): Record<string, unknown> {
  const { no, atMs, by, action, object, customer, details } = entry;
  const kind = auditObjectKind(action);
  return {
    id: `aud_${no}`,
    at: fields.time(atMs),
    actor: {
      kind: by.kind,
      ...(by.keyId === undefined ? {} : { key: `rbk_${by.keyId}` }),
      ...(by.address === undefined ? {} : { address: by.address }),
      ...(by.requestId === undefined ? {} : { requestId: by.requestId }),
    },
    action,
    ...(object === undefined || kind === undefined ? {} : { object: { kind, id: object } }),
    ...(customer === undefined ? {} : { customer }),
    details,
  };
}
