// Confirms a subscription: from this transaction on publishes find it. The exchange that it came from is complete by
// then, so what was unknown at the subscribe is filled in; what it already has stays. A publish may confirm it earlier
// than the exchange does, so an active subscription is completed in the same way.
import {
  lacksSubject,
  type Callback,
  type Subscription,
} from '../../../core/domain/subscription.ts';
import { limits } from '../../../core/limits/limits.ts';
import { writePatterns } from '../../sql/pattern-list.ts';
import { text } from '../../sql/row.ts';
import { all, first, type Script } from '../../sql/statement.ts';
import type { EditInput } from '../../port/store.ts';
import type { Edit } from '../shared/verb.ts';
import { rearrangeLanes } from './arrange-lanes.ts';
import {
  editSubscriptionSql,
  foundAgain,
  listen,
  ownerOf,
  setEvents,
  setTargets,
} from './edit-subscription.ts';
import { raiseVersion } from './patterns.ts';
import { endAtResource, subscribeSql } from './subscribe.ts';
import { findSubscription, subscriptionsSql, type Found } from './subscriptions.ts';

export const confirmSubscriptionSql = {
  confirm: `
    update subscription set version = ?2, state = ?3, subject = ?4, expires_ms = ?5, headers = ?6,
      confirm_by_ms = null, answer_status = coalesce(?7, answer_status),
      resource = coalesce(?8, resource)
    where no = ?1`,
  // It had no deliveries so far, so there is nothing that a claim could find.
  release: 'update lane set state = 0, version = ?2 where subscription = ?1 and state = 1',
  reason:
    'update callback set inactive = ?3 where subscription = ?1 and position = ?2 and inactive is not null',
} as const;

type Input = EditInput<'confirmSubscription'>;

/** The app is locked before (postgres/shared/lock-order.ts), so what is read cannot change until the commit. */
export const confirmSubscription: Edit<'confirmSubscription'> = function* (input, nowMs) {
  const found = yield* findSubscription(input);
  if (found === undefined) return { kind: 'not_found' };
  const { no, subscription: before } = found;
  if (before.state === 'ended') return { kind: 'ended' };
  const isThere = yield* hasResource(input);
  if (isComplete(before, input) && isThere) {
    return { kind: 'confirmed', subscription: before, isRepeated: true };
  }
  const isNew = before.state === 'unconfirmed';
  const completed = completedBy(before, input, nowMs);
  const { state, subject, headers, controls, exchange } = completed;
  if (nowMs >= (controls.expiresMs ?? Infinity)) return { kind: 'ended' };

  const replaced = isThere ? undefined : (yield* endAtResource(input, nowMs))?.id;
  const version = yield* raiseVersion(input.appNo);
  const values = [version, state, subject ?? null, controls.expiresMs ?? null] as const;
  const resource = isThere ? null : (input.resource ?? null);
  const more = [headers ?? null, exchange?.status ?? null, resource] as const;
  yield* all(confirmSubscriptionSql.confirm, no, ...values, ...more);
  if (isNew) yield* all(confirmSubscriptionSql.release, no, version);
  else yield* all(editSubscriptionSql.renew, no, version);
  const confirmed: Found = { no, subscription: { ...completed, version } };
  if (isNew || subject !== before.subject) yield* listen(confirmed, { isNew, nowMs });
  const { callbacks = [] } = input;
  for (const { position, inactive } of newReasons(before, callbacks)) {
    yield* all(confirmSubscriptionSql.reason, no, position, inactive);
  }
  yield* addTargets(confirmed, callbacks, nowMs);
  const { subscription } = callbacks.length === 0 ? confirmed : yield* foundAgain(input);
  const done = { kind: 'confirmed', subscription, isRepeated: false } as const;
  return replaced === undefined ? done : { ...done, replaced };
};

/** As it is once confirmed, but for its version and its callbacks. What it already has stays. */
export function completedBy(before: Subscription, input: Input, nowMs: number): Subscription {
  const isNew = before.state === 'unconfirmed';
  const subject = lacksSubject(before) ? (input.subject ?? before.subject) : before.subject;
  const isNamed = subject !== before.subject || (isNew && subject !== undefined);
  const keepMs = isNamed ? nowMs + limits.subjectKeepMs : undefined;
  const { expiresMs = input.expiresMs ?? keepMs } = before.controls;
  const { exchange } = before;
  return {
    ...before,
    state: isNew ? 'active' : before.state,
    subject,
    controls: { ...before.controls, expiresMs },
    headers: isNew ? (input.headers ?? before.headers) : (before.headers ?? input.headers),
    confirmByMs: undefined,
    exchange: exchange && { ...exchange, status: input.status ?? exchange.status },
  };
}

/** Whether there is nothing to fill in. */
function isComplete(subscription: Subscription, input: Input): boolean {
  const { state, controls, exchange } = subscription;
  const { subject, expiresMs, callbacks = [], status } = input;
  if (state === 'unconfirmed') return false;
  if (subject !== undefined && lacksSubject(subscription)) return false;
  if (expiresMs !== undefined && controls.expiresMs === undefined) return false;
  if (status !== undefined && exchange?.status === undefined) return false;
  if (newReasons(subscription, callbacks).length > 0) return false;
  return newTargets(subscription, callbacks).length === 0;
}

/** A publish may have confirmed it before its resource was known. */
function* hasResource({ appNo, id, resource }: Input): Script<boolean> {
  if (resource === undefined) return true;
  const row = yield* first(subscriptionsSql.ofResource, appNo, resource);
  return row !== undefined && text(row, 'id') === id;
}

/** Why callbacks stay inactive, now that the whole exchange is known. */
function newReasons(
  { callbacks }: Pick<Subscription, 'callbacks'>,
  given: readonly Callback[],
): { position: number; inactive: string }[] {
  return callbacks.flatMap(({ position, definition, inactive }) => {
    const own = given.filter((one) => one.definition === definition);
    const reason = own.some(isActive) ? undefined : own[0]?.inactive;
    const isOther = inactive !== undefined && reason !== undefined && reason !== inactive;
    return isOther ? [{ position, inactive: reason }] : [];
  });
}

/** The callbacks of definitions that have no target so far. */
function newTargets(
  { callbacks }: Pick<Subscription, 'callbacks'>,
  given: readonly Callback[],
): Callback[] {
  const known = new Set(callbacks.filter(isActive).map(({ definition }) => definition));
  return given.filter((one) => isActive(one) && !known.has(one.definition));
}

function isActive({ inactive }: Callback): boolean {
  return inactive === undefined;
}

/** The first target of a definition goes to its inactive callback, others get callbacks of their own. */
function* addTargets(found: Found, given: readonly Callback[], nowMs: number): Script<void> {
  const { no, subscription } = found;
  const { appNo, callbacks } = subscription;
  const inactive = callbacks.filter((one) => !isActive(one));
  const urls: { position: number; url: string }[] = [];
  let next = callbacks.length;
  for (const one of newTargets(subscription, given)) {
    const at = inactive.findIndex(({ definition }) => definition === one.definition);
    const [place] = at < 0 ? [] : inactive.splice(at, 1);
    const position = place?.position ?? next;
    const { label, events, definition, method } = one;
    urls.push({ position, url: one.url });
    if (place !== undefined) {
      yield* setEvents([{ position, events }], found, nowMs);
      continue;
    }
    next += 1;
    const values = [appNo, no, position, label, writePatterns(events), definition, method] as const;
    yield* all(subscribeSql.callback, ...values, '', 'it has no target yet', null);
  }
  if (urls.length === 0) return;
  const owner = ownerOf(found);
  const lanes = yield* rearrangeLanes(owner, new Set(urls.map(({ position }) => position)), nowMs);
  yield* setTargets(urls, found, lanes);
}
