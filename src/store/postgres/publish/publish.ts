// Publishes many calls at once: events with their deliveries, or with the cursor of a fan-out, and
// the idempotency keys, in one transaction, which connection/transact.ts begins and
// commits. Replies are in the order of the calls.
import { payloadMatcher, type Rules } from '../../../core/domain/filter.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Accepted, Audience } from '../../port/delivery-verbs.ts';
import {
  filterListeners,
  isOfOther,
  type Listener,
  printSkipped,
  rulesIn,
} from '../../rules/listeners.ts';
import {
  matchingKeys,
  matchingPatterns,
  ownersNamed,
  type Owner,
} from '../../rules/pattern-keys.ts';
import { printResult, readResult } from '../../verbs/shared/idempotency.ts';
import type { EditInput, EditOutput } from '../../port/store.ts';
import type { InsertLeases } from '../../rules/offer-slots.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import { publishedFact, type Fact } from '../../statistics/transaction-facts.ts';
import type { Tx } from '../connection/tx.ts';
import type { Slices } from './slices.ts';
import { keepIdempotencyKeys, type Keyed } from '../shared/idempotency.ts';
import {
  type ListenerCache,
  withRules,
  areListenersUnchanged,
  matchAllListeners,
  matchSubscriptions,
  nameKey,
  skipListeners,
  type PublishedName,
  type MatchedListener,
  type KnownLanes,
  type MatchedListeners,
  type Skipping,
} from './match.ts';
import { makeDeliveries, type NewDelivery } from './make-deliveries.ts';
import { leaveNotices } from '../shared/notices.ts';

export const publishSql = {
  addressed: `
    select no, id, app, filter, subject, customer, confirm_by_ms from subscription
    where id = any($1::text[]) and state <> 'ended'`,
  // The caller confirms these and tries again, so a limit is fine. With it the planner cannot join all of them.
  unconfirmed: `
    select x.i, found.id from unnest($1::int[], $2::bigint[], $3::text[], $4::text[], $5::text[])
      as x (i, app, contract, subject, customer)
    cross join lateral (
      select id from subscription
      where app = x.app and subject = x.subject and contract = x.contract
        and subject is not null and confirm_by_ms is not null and state <> 'ended'
        and (x.customer is null or customer = x.customer)
      limit 64) found`,
  // Waits for another node that is handling an entry, and then finds it gone.
  leaveInbox: 'delete from inbox where no = any($1::bigint[]) returning no',
  // All payloads as one value: as array elements each would be sent as text of twice its length.
  events: `
    insert into event
      (id, app, name, slice, created_ms, deliveries, payload, trace, subject, customer, skipped)
    select id, app, name, slice, $8::bigint, deliveries,
      substring($9::bytea from 1 + start for bytes), trace, subject, customer, skipped
    from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::int[], $6::text[], $7::int[],
      $10::int[], $11::text[], $12::text[], $13::text[])
      as x (id, app, name, slice, deliveries, trace, start, bytes, subject, skipped, customer)
    where ${areListenersUnchanged}`,
  fanOuts: `
    insert into fanout (event, app, contract, version, names)
    select x.event, app.no, x.contract, app.version, x.names
    from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) as x (event, app, contract, names)
    join app on app.no = x.app where ${areListenersUnchanged}`,
} as const;

export type Publish = EditInput<'publish'>;
export type Published = EditOutput<'publish'>;

export interface PublishContext {
  nowMs: number;
  insertLeases: InsertLeases;
  slices: Slices;
  /** The cache of listeners, if the transaction does nothing but publish. */
  listenerCache: ListenerCache | undefined;
  facts: Fact[];
  /** Counts pending deliveries and new fan-outs, of which other nodes should be notified. */
  left: { waiting: number; fanOuts: number };
}

export interface PublishedAll {
  replies: Published[];
  /**
   * Resolves when the last statements were answered. They do not change the replies; if it rejects,
   * there are none.
   */
  answered: Promise<unknown>;
}

export async function publishAll(
  tx: Tx,
  calls: readonly Publish[],
  context: PublishContext,
): Promise<PublishedAll> {
  const { found, sure } = await findListeners(tx, calls, context.listenerCache);
  // Statements that store keys, and remove inbox entries or notices, lack the condition
  // `areListenersUnchanged`, so they wait until the listeners are confirmed.
  if (!calls.every(isPlain)) await sure;
  const taken = await takenElsewhere(tx, calls, found);
  const drafts = calls.map((call, index) => draft(call, found[index]));
  await skipListeners(
    tx,
    drafts.flatMap((events) => events ?? []),
  );
  const keyed = calls.flatMap(({ appNo, idempotency }, index): Keyed[] => {
    if (idempotency === undefined || taken.has(index)) return [];
    const events = drafts[index];
    const result = events === undefined ? undefined : printResult(accepted(events));
    return [{ index, appNo, idempotency, result }];
  });
  const earlier = await keepIdempotencyKeys(tx, keyed, context.nowMs);
  const replies = calls.map((_call, index): Published => {
    if (taken.has(index)) return { kind: 'taken' };
    // The key comes first: a repeated call gets the same answer, even after the subscription has
    // ended.
    const before = earlier.get(index);
    if (before?.kind === 'same') return { kind: 'repeated', events: readResult(before.result) };
    if (before?.kind === 'other') return { kind: 'mismatch' };
    const events = drafts[index];
    if (events === undefined) return refusalIn(found[index]);
    return { kind: 'accepted', events: accepted(events) };
  });
  const made = drafts.flatMap((events, index) =>
    events === undefined || replies[index]?.kind !== 'accepted' ? [] : events,
  );
  const { answered } = await write(tx, made, context);
  return { replies, answered: Promise.all([sure, answered]) };
}

function isPlain({ idempotency, inbox, notice }: Publish): boolean {
  return idempotency === undefined && inbox === undefined && notice === undefined;
}

/** An event that is about to be inserted. */
interface Draft extends Skipping, Owner {
  id: string;
  appNo: number;
  contract: string;
  name: string;
  audience: Audience;
  payload: Uint8Array;
  trace: string | undefined;
}

/** The listeners of an event; undefined: too many, so that a fan-out makes the deliveries. */
type FilteredListeners = readonly Listener[] | undefined;

function draft(call: Publish, found: FoundForCall | undefined): Draft[] | undefined {
  const { appNo, contract, events, audience, trace } = call;
  if (found === undefined || 'kind' in found) return undefined;
  return events.map((event, i) => {
    const subject = event.subject ?? found.subject;
    const customer = event.customer ?? found.customer;
    const { skipped } = event;
    const listeners = found.listeners[i];
    return { ...event, subject, customer, audience, appNo, contract, trace, listeners, skipped };
  });
}

function refusalIn(found: FoundForCall | undefined): Refusal {
  return found !== undefined && 'kind' in found ? found : { kind: 'not_found' };
}

function accepted(events: readonly Draft[]): Accepted[] {
  return events.map(({ id, listeners, skipped }) => {
    const one = { id, deliveries: listeners?.length };
    return skipped === undefined ? one : { ...one, skipped };
  });
}

type Refusal = Extract<Published, { kind: 'not_found' | 'unconfirmed' | 'subject_missing' }>;

/** `listeners`: of each event. The owner is that of the addressed subscription. */
type FoundForCall = Refusal | ({ listeners: FilteredListeners[] } & Owner);

interface FoundListeners {
  /** For each call. */
  found: FoundForCall[];
  sure: MatchedListeners['sure'];
}

async function findListeners(
  tx: Tx,
  calls: readonly Publish[],
  cache: ListenerCache | undefined,
): Promise<FoundListeners> {
  const lanes: KnownLanes = new Map();
  const addressed = await findAddressed(tx, calls);
  const unconfirmed = await findUnconfirmed(tx, calls);
  const names = new Map<string, { at: number; published: PublishedName }>();
  for (const call of calls) {
    if ('id' in call.audience) continue;
    for (const event of call.events) {
      const published = publishedName(call, event);
      const key = nameKey(published);
      if (!names.has(key)) names.set(key, { at: names.size, published });
    }
  }
  const everyone = [...names.values()].map(({ published }) => published);
  const { found, missing, sure } = await matchAllListeners(tx, everyone, { lanes, cache });
  // Counted before filtering, because evaluating that many filters is work for a fan-out, too.
  const isMany = found.map(({ length }) => length > limits.targetsAtOnceMax);
  const matched = await withRules(
    tx,
    found.map((list, i) => (isMany[i] === true ? [] : list)),
  );
  const numbers = new Set([...addressed.values()].map(({ no }) => no));
  const ofOne = await matchSubscriptions(tx, [...numbers], lanes);
  const foundForCalls = calls.map((call, index): FoundForCall => {
    const { events, audience } = call;
    const ids = unconfirmed.get(index);
    if (ids !== undefined) return { kind: 'unconfirmed', ids };
    if (!('id' in audience)) {
      const places = events.map(
        (event) => names.get(nameKey(publishedName(call, event)))?.at ?? -1,
      );
      const passingBy = events[places.findIndex((at) => missing.has(at))];
      if (passingBy !== undefined) return { kind: 'subject_missing', event: passingBy.id };
      const listeners = events.map(({ payload }, i) => {
        const at = places[i] ?? -1;
        return isMany[at] === true ? undefined : filterListeners(matched[at] ?? [], payload);
      });
      return { listeners, subject: undefined, customer: undefined };
    }
    const addressee = addressed.get(index);
    if (addressee === undefined) return { kind: 'not_found' };
    const { no, subject, customer, isUnconfirmed } = addressee;
    if (isUnconfirmed) return { kind: 'unconfirmed', ids: [audience.id] };
    const all = ofOne.get(no) ?? [];
    const isPing = audience.kind === 'all_callbacks';
    const listeners = events.map((event) => (isPing ? all : listenersOf(all, event, addressee)));
    return { listeners, subject, customer };
  });
  return { found: foundForCalls, sure };
}

function publishedName(
  { appNo, contract, audience }: Publish,
  { name, subject, customer }: Publish['events'][number],
): PublishedName {
  return { appNo, contract, name, subject, customer, audience: audience.kind };
}

/** By the index of the call: ids of unconfirmed subscriptions with a subject of its events. */
async function findUnconfirmed(tx: Tx, calls: readonly Publish[]): Promise<Map<number, string[]>> {
  const named = calls.flatMap(({ appNo, contract, audience, events }, i) => {
    if ('id' in audience) return [];
    return ownersNamed(events).map((owner) => ({ i, appNo, contract, ...owner }));
  });
  if (named.length === 0) return new Map();
  const rows = await tx.query(publishSql.unconfirmed, [
    named.map(({ i }) => i),
    named.map(({ appNo }) => appNo),
    named.map(({ contract }) => contract),
    named.map(({ subject }) => subject),
    named.map(({ customer }) => customer ?? null),
  ]);
  const byCall = Map.groupBy(rows, (row) => integer(row, 'i'));
  return new Map([...byCall].map(([i, found]) => [i, found.map((row) => text(row, 'id'))]));
}

function listenersOf(
  all: readonly MatchedListener[],
  event: Publish['events'][number],
  addressee: Addressee,
): Listener[] {
  const { name, payload } = event;
  const { rules } = addressee;
  if (isOfOther(event, addressee)) return [];
  if (rules !== undefined && !payloadMatcher(payload)(rules)) return [];
  const hearing = matchingPatterns(name);
  return all.filter(({ patterns }) => patterns.some((pattern) => hearing.includes(pattern)));
}

interface Addressee extends Owner {
  no: number;
  id: string;
  isUnconfirmed: boolean;
  rules: Rules | undefined;
}

/** The addressed subscriptions, by the index of the call. */
async function findAddressed(tx: Tx, calls: readonly Publish[]): Promise<Map<number, Addressee>> {
  const ids = calls.flatMap(({ audience }) => ('id' in audience ? audience.id : []));
  if (ids.length === 0) return new Map();
  const rows = await tx.query(publishSql.addressed, [ids]);
  const known = new Map(rows.map((row) => [`${integer(row, 'app')} ${text(row, 'id')}`, row]));
  return new Map(
    calls.flatMap(({ appNo, audience }, index) => {
      if (!('id' in audience)) return [];
      const row = known.get(`${appNo} ${audience.id}`);
      if (row === undefined) return [];
      const owner = {
        subject: maybe(text, row, 'subject'),
        customer: maybe(text, row, 'customer'),
      };
      const isUnconfirmed = row['confirm_by_ms'] !== null;
      const no = integer(row, 'no');
      const addressee = { no, id: audience.id, ...owner, isUnconfirmed, rules: rulesIn(row) };
      return [[index, addressee] as const];
    }),
  );
}

/**
 * Indexes of the calls whose inbox entry or notice has been handled elsewhere. A refused call leaves its entry in the
 * inbox: its caller rejects the event, or confirms subscriptions and publishes it again.
 */
async function takenElsewhere(
  tx: Tx,
  calls: readonly Publish[],
  found: readonly FoundForCall[],
): Promise<Set<number>> {
  const isRefused = (index: number): boolean => 'kind' in (found[index] ?? {});
  const entries = calls
    .flatMap(({ inbox }, index) => (isRefused(index) ? [] : (inbox ?? [])))
    .toSorted((a, b) => a - b);
  const left = entries.length === 0 ? [] : await tx.query(publishSql.leaveInbox, [entries]);
  const ours = new Set(left.map((row) => integer(row, 'no')));
  const notices = await leaveNotices(
    tx,
    calls.flatMap(({ notice }) => notice ?? []),
  );
  // The second call for the same entry in a batch finds it taken as well.
  const isTaken = ({ inbox, notice }: Publish, index: number): boolean =>
    (inbox !== undefined && !isRefused(index) && !ours.delete(inbox)) ||
    (notice !== undefined && !notices.delete(notice));
  return new Set(calls.flatMap((call, index) => (isTaken(call, index) ? [index] : [])));
}

/** Resolves when the statements are sent. */
async function write(
  tx: Tx,
  events: readonly Draft[],
  context: PublishContext,
): Promise<Pick<PublishedAll, 'answered'>> {
  if (events.length === 0) return { answered: Promise.resolve() };
  const { nowMs, insertLeases, slices, left, facts } = context;
  for (const { appNo } of events) facts.push(publishedFact(appNo, 1));
  const slice: number[] = [];
  for (const event of events) {
    const taken = slices.take(tx, 1 + (event.listeners?.length ?? 0), nowMs);
    slice.push(taken instanceof Promise ? await taken : taken);
  }
  const sliced = events.map(({ id }, index) => ({ event: id, slice: slice[index] ?? 0 }));
  const covered = slices.cover(tx, sliced, nowMs);
  const payloads = events.map(({ payload }) => payload);
  const inserted = tx.query(publishSql.events, [
    events.map(({ id }) => id),
    events.map(({ appNo }) => appNo),
    events.map(({ name }) => name),
    slice,
    events.map(({ listeners }) => listeners?.length ?? null),
    events.map(({ trace }) => trace ?? null),
    offsetsOf(payloads),
    nowMs,
    Buffer.concat(payloads),
    payloads.map(({ byteLength }) => byteLength),
    events.map(({ subject }) => subject ?? null),
    events.map(({ skipped }) => printSkipped(skipped)),
    events.map(({ customer }) => customer ?? null),
  ]);
  const many = events.filter(({ listeners }) => listeners === undefined);
  const begun =
    many.length === 0
      ? []
      : tx.query(publishSql.fanOuts, [
          many.map(({ id }) => id),
          many.map(({ appNo }) => appNo),
          many.map(({ contract }) => contract),
          many.map(({ name, subject, customer, audience }) =>
            JSON.stringify(matchingKeys({ name, subject, customer, audience: audience.kind })),
          ),
        ]);
  const deliveries = events.flatMap(({ id, appNo, listeners = [] }, index): NewDelivery[] =>
    listeners.map(({ callback, lane }, n) => {
      return { event: id, n, appNo, slice: slice[index] ?? 0, callback, lane };
    }),
  );
  const asked = Promise.all([covered, inserted, begun]);
  asked.catch(() => undefined); // Taking positions in ordered lanes may fail first.
  const made = await makeDeliveries(tx, { deliveries, insertLeases, nowMs, facts });
  left.waiting += made.waiting;
  left.fanOuts += many.length;
  return { answered: Promise.all([asked, made.answered]) };
}

/** The offset of each payload in their concatenation. */
function offsetsOf(payloads: readonly Uint8Array[]): number[] {
  let end = 0;
  return payloads.map(({ byteLength }) => (end += byteLength) - byteLength);
}
