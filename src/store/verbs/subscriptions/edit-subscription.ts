// Edits a subscription: pause and resume, targets, patterns, secrets and controls; all changes of
// one edit or none.
import { strict as assert } from 'node:assert';
import type { Subscription } from '../../../core/domain/subscription.ts';
import { readPatterns, writePatterns } from '../../sql/pattern-list.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first } from '../../sql/statement.ts';
import type { EditInput } from '../../port/store.ts';
import { raiseVersion, addPatterns, changePatterns, type Listening } from './patterns.ts';
import { keepControls } from './apply-controls.ts';
import type { LaneOwner } from './arrange-lanes.ts';
import { moveIntoLanes, rearrangeLanes } from './arrange-lanes.ts';
import type { Found } from './subscriptions.ts';
import { findSubscription } from './subscriptions.ts';
import type { Edit } from '../shared/verb.ts';

export const editSubscriptionSql = {
  edit: `
    update subscription set version = ?2, state = ?3, secrets = ?4, customer = ?5 where no = ?1`,
  hold: `
    update lane set state = 1, ready_ms = 9007199254740991, quiet_ms = null, quiet_xid = null
    where subscription = ?1 and state = 0`,
  // Deliveries may have been added while it was held, so a claim must look as soon as the gate
  // allows.
  resume: `
    update lane set state = 0, quiet_ms = null, quiet_xid = null,
      ready_ms = case when gate_ms > ?2 then gate_ms else ?2 end
    where subscription = ?1 and state = 1`,
  // Resets the failures, or the next one would disable the subscription again. A running head keeps
  // its gate.
  mend: `
    update lane set failures = 0, failing_ms = null,
      gate_ms = case when gate_ms = 9007199254740991 then gate_ms else 0 end
    where subscription = ?1 and state <> 2`,
  // Every lease of the lane carries this version, which tells its holder to read the subscription
  // again.
  renew: 'update lane set version = ?2 where subscription = ?1',
  callback: 'select no, event, url, lane from callback where subscription = ?1 and position = ?2',
  events: 'update callback set event = ?2 where no = ?1',
  active:
    'select no, event, lane from callback where subscription = ?1 and lane is not null order by position',
  target: 'update callback set url = ?2, inactive = null, lane = ?3 where no = ?1',
} as const;

export const editSubscription: Edit<'editSubscription'> = function* (input, nowMs) {
  const seen = yield* findSubscription(input);
  if (seen === undefined) return { kind: 'not_found' };
  const version = yield* raiseVersion(input.appNo);
  // Read again, now under the lock: from here on no other node can change it.
  const { no, subscription } = yield* foundAgain(input);
  const { expiresMs } = subscription.controls;
  if (subscription.state === 'ended' || nowMs >= (expiresMs ?? Infinity)) return { kind: 'ended' };
  if (subscription.state === 'unconfirmed') return { kind: 'unconfirmed' };
  if (subscription.version !== input.version) return { kind: 'stale' };
  const { chosen } = input;
  if (nowMs >= (chosen?.controls.expiresMs ?? Infinity)) return { kind: 'expired' };

  const state = input.state ?? subscription.state;
  const secrets = input.secrets ?? subscription.secrets;
  const customer =
    input.customer === undefined ? subscription.customer : (input.customer ?? undefined);
  yield* all(editSubscriptionSql.edit, no, version, state, secrets, customer ?? null);
  if (subscription.state === 'disabled' && state !== 'disabled') {
    yield* all(editSubscriptionSql.mend, no);
  }
  if (state === 'active') yield* all(editSubscriptionSql.resume, no, nowMs);
  else yield* all(editSubscriptionSql.hold, no);
  yield* all(editSubscriptionSql.renew, no, version);
  const { controls } = chosen ?? subscription;
  const changed = { no, subscription: { ...subscription, state, version, controls, customer } };
  const owner = ownerOf(changed);
  const joining = new Set(input.urls.map(({ position }) => position));
  const lanes = yield* rearrangeLanes(owner, joining, nowMs);
  // Patterns first: a callback that had no target begins with the new ones.
  yield* setEvents(input.events ?? [], changed, nowMs);
  if (customer !== subscription.customer) yield* listen(changed, { isNew: false, nowMs });
  const renewed = yield* setTargets(input.urls, changed, lanes);
  if (renewed.size > 0) yield* moveIntoLanes(owner, renewed, nowMs);
  if (chosen !== undefined) yield* keepControls(no, chosen);
  return { kind: 'edited', subscription: (yield* foundAgain(input)).subscription };
};

export function* foundAgain(input: { appNo: number; id: string }): Script<Found> {
  const found = yield* findSubscription(input);
  assert(found !== undefined);
  return found;
}

type Input = EditInput<'editSubscription'>;

export function ownerOf({ no, subscription }: Found): LaneOwner {
  const { appNo, version, controls } = subscription;
  const state = subscription.state === 'active' ? 'active' : 'held';
  return { appNo, subscription: no, state, version, controls };
}

export function* setEvents(
  changes: NonNullable<Input['events']>,
  { no, subscription }: Found,
  nowMs: number,
): Script<void> {
  for (const { position, events } of changes) {
    const { callback, lane } = yield* callbackAt(position, { no, subscription });
    yield* all(editSubscriptionSql.events, callback, writePatterns(events));
    if (lane === undefined) continue;
    yield* changePatterns(listeningAt({ callback, lane, events }, subscription), nowMs);
  }
}

/**
 * Publishes find its active callbacks from now on, by its subject and customer. `isNew`: none of them is found so far.
 */
export function* listen(
  { no, subscription }: Found,
  { isNew, nowMs }: { isNew: boolean; nowMs: number },
): Script<void> {
  for (const row of yield* all(editSubscriptionSql.active, no)) {
    const events = readPatterns(text(row, 'event'));
    const place = { events, callback: integer(row, 'no'), lane: integer(row, 'lane') };
    const listening = listeningAt(place, subscription);
    if (isNew) yield* addPatterns(listening);
    else yield* changePatterns(listening, nowMs);
  }
}

/**
 * Sets targets. A callback that had none also becomes subscribed, from this version on. Returns the
 * positions of those that had another target.
 */
export function* setTargets(
  urls: Input['urls'],
  { no, subscription }: Found,
  lanes: ReadonlyMap<number, number>,
): Script<Set<number>> {
  const renewed = new Set<number>();
  for (const { position, url } of urls) {
    const { callback, events, ...before } = yield* callbackAt(position, { no, subscription });
    const lane = lanes.get(position);
    assert(lane !== undefined);
    yield* all(editSubscriptionSql.target, callback, url, lane);
    if (before.lane === undefined) {
      yield* addPatterns(listeningAt({ callback, lane, events }, subscription));
    } else if (before.url !== url) {
      renewed.add(position);
    }
  }
  return renewed;
}

/** `place`: a callback of the subscription. */
export function listeningAt(
  place: Pick<Listening, 'callback' | 'lane' | 'events'>,
  { appNo, contract, subject, customer, version: born, controls: { filter } }: Subscription,
): Listening {
  return { appNo, contract, subject, customer, filter, born, ...place };
}

interface CallbackRow {
  callback: number;
  events: string[];
  url: string | undefined;
  lane: number | undefined;
}

function* callbackAt(position: number, { no, subscription: { id } }: Found): Script<CallbackRow> {
  const row = yield* first(editSubscriptionSql.callback, no, position);
  assert(row !== undefined, `Cannot edit callback ${position} of "${id}": there is none`);
  return {
    callback: integer(row, 'no'),
    events: readPatterns(text(row, 'event')),
    url: maybe(text, row, 'url'),
    lane: maybe(integer, row, 'lane'),
  };
}
