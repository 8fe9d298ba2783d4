// The audit trail: entries without a change, the list, and retention. Entries of changes are written by the transaction of the
// change: shared/audit.ts.
import { strict as assert } from 'node:assert';
import { auditActorKinds, type AuditActor, type AuditEntry } from '../../core/domain/audit.ts';
import { limits } from '../../core/limits/limits.ts';
import type { AuditFilter } from '../port/audit-verbs.ts';
import { belowCursor, cursorAt } from '../sql/cursor.ts';
import { integer, maybe, oneOf, text, type Row } from '../sql/row.ts';
import { all, first, type Script } from '../sql/statement.ts';
import { fillPage, type Stepped, type Walk } from './lists/fill-page.ts';
import type { Edit, Read } from './shared/verb.ts';

// Without statistics SQLite takes the three indexes for equally good, and would choose the first.
const columns = `no, at_ms, actor, key, is_bound, address, request_id, action, object, customer,
  details`;

const below = 'at_ms >= ?2 and (at_ms, no) < (?3, ?4) order by at_ms desc, no desc limit ?5 + 0';

export const auditListSql = {
  place: 'select at_ms from audit where no = ?1 and app = ?2',
  ofApp: `select ${columns} from audit where app = ?1 and ${below}`,
  ofObject: `
    select ${columns} from audit indexed by audit_object
    where app = ?1 and object = ?6 and object is not null and ${below}`,
  ofCustomer: `
    select ${columns} from audit indexed by audit_customer
    where app = ?1 and customer = ?6 and customer is not null and ${below}`,
  // The oldest rows by number, in which times rise but for the clocks of nodes: so no index of times is needed.
  forget: `
    delete from audit
    where no in (select no from audit order by no limit ?2 + 0) and at_ms < ?1 returning no`,
} as const;

/** The runner of edits writes the entry. */
export const recordAudit: Edit<'recordAudit'> = function* () {
  yield* [];
  return { kind: 'recorded' };
};

export const forgetAudit: Edit<'forgetAudit'> = function* ({ beforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const gone = yield* all(auditListSql.forget, beforeMs, limit);
  return { deleted: gone.length };
};

export const audit: Read<'audit'> = function* ({ appNo, page, filter }) {
  const from = yield* placeOf(appNo, page.after, filter.untilMs);
  return yield* fillPage({
    walk: walkEntries(appNo, from, filter),
    limit: page.limit,
    toCursor: ({ entry }) => cursorAt(entry.no),
    toItems: function* (steps) {
      yield* [];
      return steps.map(({ entry }) => entry);
    },
  });
};

/** Entries are listed by time, and those of one time by number. */
interface Place {
  atMs: number;
  no: number;
}

/** Where the page begins; undefined behind an entry that is deleted, and so are all older ones. */
function* placeOf(
  appNo: number,
  after: string | undefined,
  untilMs = Number.MAX_SAFE_INTEGER,
): Script<Place | undefined> {
  const until = { atMs: untilMs, no: 0 };
  if (after === undefined) return until;
  const no = belowCursor(after);
  const row = yield* first(auditListSql.place, no, appNo);
  if (row === undefined) return undefined;
  const atMs = integer(row, 'at_ms');
  return atMs < untilMs ? { atMs, no } : until;
}

interface Step extends Stepped {
  entry: AuditEntry;
}

function* walkEntries(appNo: number, from: Place | undefined, filter: AuditFilter): Walk<Step> {
  const { object, customer, fromMs = 0 } = filter;
  const [sql, ...key] =
    object !== undefined
      ? [auditListSql.ofObject, object]
      : customer !== undefined
        ? [auditListSql.ofCustomer, customer]
        : [auditListSql.ofApp];
  let place = from;
  for (let most: number = limits.searchRowsMin; ; most = Math.min(most * 4, limits.searchRowsMax)) {
    if (place === undefined) return;
    const rows = yield* all(sql, appNo, fromMs, place.atMs, place.no, most, ...key);
    const entries = rows.map(toEntry);
    for (const entry of entries) yield { entry, fits: fits(entry, filter), cost: 1 };
    place = rows.length < most ? undefined : entries.at(-1);
  }
}

function fits({ action, object, customer, by }: AuditEntry, filter: AuditFilter): boolean {
  return (
    (filter.action === undefined || filter.action === action) &&
    (filter.object === undefined || filter.object === object) &&
    (filter.customer === undefined || filter.customer === customer) &&
    (filter.keyId === undefined || filter.keyId === by.keyId) &&
    (filter.isOfBoundKey !== true || (by.kind === 'key' && by.customer !== undefined))
  );
}

function toEntry(row: Row): AuditEntry {
  const customer = maybe(text, row, 'customer');
  const details: AuditEntry['details'] = JSON.parse(text(row, 'details'));
  return {
    no: integer(row, 'no'),
    atMs: integer(row, 'at_ms'),
    by: toActor(row, customer),
    action: text(row, 'action'),
    object: maybe(text, row, 'object'),
    customer,
    details,
  };
}

function toActor(row: Row, customer: string | undefined): AuditActor {
  return {
    kind: oneOf(auditActorKinds, text(row, 'actor')),
    keyId: maybe(text, row, 'key'),
    customer: integer(row, 'is_bound') === 1 ? customer : undefined,
    address: maybe(text, row, 'address'),
    requestId: maybe(text, row, 'request_id'),
  };
}
