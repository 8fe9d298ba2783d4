// The part of the Store port for the audit trail. An entry is an optional part of the edit that it is about, and is written
// in the transaction of that edit if the edit changes anything.
import type { AuditAction, Audited, AuditEntry } from '../../core/domain/audit.ts';
import type { Page, PageInput } from './delivery-verbs.ts';

export interface AuditEdits {
  /** For what changes nothing and is recorded all the same: reading a secret. */
  recordAudit: { input: Required<Audited>; output: { kind: 'recorded' } };
  /** Deletes entries that are older, at most `limit`. */
  forgetAudit: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
}

export interface AuditFilter {
  action?: AuditAction | undefined;
  object?: string | undefined;
  /** Id of a key, without its prefix. */
  keyId?: string | undefined;
  customer?: string | undefined;
  /** Only what was done with keys that are bound to a customer. */
  isOfBoundKey?: boolean | undefined;
  fromMs?: number | undefined;
  /** Exclusive. */
  untilMs?: number | undefined;
}

export interface AuditReads {
  /** Newest first. */
  audit: {
    input: { appNo: number; page: PageInput; filter: AuditFilter };
    output: Page<AuditEntry>;
  };
}
