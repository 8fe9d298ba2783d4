// What the audit trail says about a change: see store/port/audit-verbs.ts.
import type { Actor } from '../core/domain/app.ts';
import type { Audit, AuditAction, AuditDetails } from '../core/domain/audit.ts';

/** The actor of a change, and the app in whose trail it is recorded. */
export type Recorded = Pick<Actor, 'no' | 'by'>;

/** Undefined if the change is not recorded. */
export function audited(
  { no: appNo, by }: Recorded,
  action: AuditAction,
  { object, customer, details }: AuditedObject = {},
): Audit | undefined {
  return by && { appNo, by, action, object, customer, details };
}

interface AuditedObject {
  /** As callers know it. */
  object?: string;
  customer?: string | undefined;
  details?: AuditDetails;
}
