// The audit trail: which entry an edit leaves, and how it is written. The edit itself decides nothing: its result says whether it
// has changed anything. Repeated and refused edits leave no entry.
import { withPrefix } from '../../../core/base/id.ts';
import { deliveryId } from '../../../core/domain/delivery.ts';
import type { Audit } from '../../../core/domain/audit.ts';
import type { EditInput, EditOutput, EditVerb } from '../../port/store.ts';
import { editOutput, type EditCall } from '../../port/transport-protocol.ts';
import { all, type Script, type Value } from '../../sql/statement.ts';

export const auditSql = {
  insert: `
    insert into audit
      (app, at_ms, actor, key, is_bound, address, request_id, action, object, customer, details)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
} as const;

/** For changes that are no edits of their own, as when a receiver ends its subscription. */
export function* writeAudit(audit: Audit, nowMs: number): Script<void> {
  yield* all(auditSql.insert, ...auditValues(audit, nowMs));
}

/** The values of a row, in the order of its columns. */
export function auditValues(audit: Audit, nowMs: number): Value[] {
  const { appNo, by, action, object = null, customer = null, details = {} } = audit;
  const { kind, keyId = null, address = null, requestId = null } = by;
  const isBound = by.customer === undefined ? 0 : 1;
  const from = [kind, keyId, isBound, address, requestId] as const;
  const whose = by.customer ?? customer;
  return [appNo, nowMs, ...from, action, object, whose, JSON.stringify(details)];
}

/** The entry of an edit with this result; undefined if it is not recorded, or has changed nothing. */
export function auditOf(call: EditCall, output: EditOutput<EditVerb>): Audit | undefined {
  if (!isAudited(call)) return undefined;
  const { audit } = call.input;
  const learnt = audit && learntFrom(call, output);
  return audit && learnt && { ...audit, ...learnt };
}

type AuditedVerb = { [V in EditVerb]: 'audit' extends keyof EditInput<V> ? V : never }[EditVerb];

function isAudited(call: EditCall): call is EditCall<AuditedVerb> {
  return Object.hasOwn(results, call.verb);
}

function learntFrom<V extends AuditedVerb>(
  call: EditCall<V>,
  output: EditOutput<EditVerb>,
): Partial<Audit> | undefined {
  return results[call.verb](editOutput(call.verb, output), call.input);
}

type Learn<V extends AuditedVerb> = (
  output: EditOutput<V>,
  input: EditInput<V>,
) => Partial<Audit> | undefined;

/** What only the result of an edit says; undefined if it has changed nothing. */
const results: { [V in AuditedVerb]: Learn<V> } = {
  recordAudit: () => ({}),
  createApp: ({ kind }) => (kind === 'created' ? {} : undefined),
  editApp: (output) => (output.kind === 'edited' ? fieldsIn(output) : undefined),
  createKey: (output) => {
    if (output.kind !== 'created') return undefined;
    const { customer, scopes } = output.key;
    return { customer, details: { scopes } };
  },
  rotateKey: (output) => (output.kind === 'rotated' ? of(output.key) : undefined),
  revokeKey: (output) =>
    output.kind === 'revoked' && !output.isRepeated ? of(output.key) : undefined,
  createSession: ({ kind }) => (kind === 'created' ? {} : undefined),
  endSession: ({ isRepeated }) => (isRepeated ? undefined : {}),
  subscribe: (output) => {
    if (output.kind !== 'created') return undefined;
    const { subscription, replaced } = output;
    return { ...of(subscription), details: { replaced: replaced && withPrefix('sub', replaced) } };
  },
  clearResource: (output) => {
    if (output.kind !== 'cleared' || output.ended === undefined) return undefined;
    return { object: withPrefix('sub', output.ended), customer: output.customer };
  },
  confirmSubscription: (output) =>
    output.kind === 'confirmed' && !output.isRepeated ? of(output.subscription) : undefined,
  editSubscription: (output) => (output.kind === 'edited' ? of(output.subscription) : undefined),
  unsubscribe: (output) =>
    output.kind === 'ended' && !output.isRepeated ? of(output.subscription) : undefined,
  disableFailing: (output) => {
    if (output.kind === 'kept') return undefined;
    return { object: withPrefix('sub', output.subscription), customer: output.customer };
  },
  retryDelivery: (output, { event, n }) => {
    if (output.kind !== 'due') return undefined;
    const { customer } = output;
    // A dead delivery continues; of any other a new one is made.
    if (output.n === n) return { customer };
    return { customer, details: { delivery: deliveryId({ event, n: output.n }) } };
  },
  createReplay: (output) => (output.kind === 'created' ? of(output.replay.filter) : undefined),
  cancelReplay: (output) =>
    output.kind === 'cancelled' && !output.isRepeated ? of(output.replay.filter) : undefined,
  putEventType: (output) => {
    if (output.kind === 'full') return undefined;
    return output.kind === 'created' ? { action: 'event_type.created' } : fieldsIn(output);
  },
  deleteEventType: ({ kind }) => (kind === 'deleted' ? {} : undefined),
};

function of({ customer }: { customer: string | undefined }): Partial<Audit> {
  return { customer };
}

function fieldsIn({ changed }: { changed: readonly string[] }): Partial<Audit> | undefined {
  return changed.length === 0 ? undefined : { details: { fields: changed } };
}
