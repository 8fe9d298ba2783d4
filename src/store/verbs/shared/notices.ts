// Notices: Ringback's own events, from the transaction that causes one to the transaction that
// publishes it. Nothing is written if no callback is subscribed to it, and own events cause no
// further ones, except that a ping may end a subscription.
import type { DeliveryName } from '../../../core/domain/delivery.ts';
import { deliveryKey } from '../../../core/domain/delivery.ts';
import { ownPrefix, pingEvent } from '../../../core/domain/event.ts';
import {
  deadNotice,
  goneNotice,
  type Notice,
  type NoticeName,
  type RejectedFacts,
  rejectedNotice,
} from '../../../core/domain/system-event.ts';
import type { Delivery } from '../../port/delivery-verbs.ts';
import { matchingPatterns } from '../../rules/subject-keys.ts';
import { integer, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, forEach } from '../../sql/statement.ts';
import { deliveriesNamed } from './delivery.ts';
import type { Read } from './verb.ts';

export const noticesSql = {
  // Own events belong to no contract.
  listening: `
    select app from pattern indexed by pattern_alive
    where app = ?1 and contract = '' and pattern = ?2 and died is null limit 1`,
  insert: 'insert into notice (app, name, payload, created_ms) values (?1, ?2, ?3, ?4)',
  oldest: `
    select no, app, name, payload from notice where created_ms <= ?1 order by no limit ?2 + 0`,
  leave: 'delete from notice where no = ?1 returning no',
} as const;

export interface NewNotice extends Notice {
  appNo: number;
}

export const notices: Read<'notices'> = function* ({ writtenByMs, limit }) {
  const rows = yield* all(noticesSql.oldest, writtenByMs, limit);
  return rows.map((row) => ({
    no: integer(row, 'no'),
    appNo: integer(row, 'app'),
    name: text(row, 'name'),
    payload: text(row, 'payload'),
  }));
};

export function* writeNotice({ appNo, name, payload }: NewNotice, nowMs: number): Script<void> {
  yield* all(noticesSql.insert, appNo, name, payload, nowMs);
}

export function* hasListeners(appNo: number, name: NoticeName): Script<boolean> {
  const listening = yield* appsListening([appNo], name);
  return listening.size > 0;
}

function* appsListening(apps: readonly number[], name: NoticeName): Script<Set<number>> {
  const asked = apps.flatMap((appNo) =>
    matchingPatterns(name).map((pattern) => [appNo, pattern] as const),
  );
  const rows = yield* forEach(noticesSql.listening, asked);
  return new Set(rows.map((row) => integer(row, 'app')));
}

export interface DeadDelivery extends DeliveryName {
  appNo: number;
}

/** The notices of deliveries that just became dead, in order. */
export function* noticesOfDead(
  dead: readonly DeadDelivery[],
  nowMs: number,
): Script<readonly NewNotice[]> {
  const apps = [...new Set(dead.map(({ appNo }) => appNo))];
  const listening = yield* appsListening(apps, 'ringback.delivery.dead');
  const found = new Map<string, Delivery>();
  for (const appNo of listening) {
    const names = dead.filter((one) => one.appNo === appNo);
    for (const [key, one] of yield* deliveriesNamed(appNo, names)) found.set(key, one);
  }
  return dead.flatMap(({ appNo, ...name }) => {
    const one = found.get(deliveryKey(name));
    if (one === undefined || isOwn(one)) return [];
    return [{ appNo, ...deadNotice({ ...factsOf(one), ...endOf(one), atMs: nowMs }) }];
  });
}

/**
 * A receiver ended the subscription of a delivery. The delivery may be a ping: its notice cannot
 * cause a loop, because a subscription ends only once.
 */
export function* noticeGone({ appNo, event, n }: DeadDelivery, nowMs: number): Script<void> {
  if (!(yield* hasListeners(appNo, 'ringback.subscription.gone'))) return;
  const [one] = (yield* deliveriesNamed(appNo, [{ event, n }])).values();
  if (one === undefined || (isOwn(one) && one.eventName !== pingEvent)) return;
  yield* writeNotice({ appNo, ...goneNotice({ ...factsOf(one), atMs: nowMs }) }, nowMs);
}

/** An event published by SQL violated the contract. */
export function* noticeRejected(appNo: number, facts: RejectedFacts): Script<void> {
  if (!(yield* hasListeners(appNo, 'ringback.event.rejected'))) return;
  yield* writeNotice({ appNo, ...rejectedNotice(facts) }, facts.atMs);
}

/** Deletes the notice; returns whether it still existed. */
export function* leaveNotice(no: number): Script<boolean> {
  return (yield* first(noticesSql.leave, no)) !== undefined;
}

function isOwn({ eventName }: Pick<Delivery, 'eventName'>): boolean {
  return eventName.startsWith(ownPrefix);
}

/** If the delivery did not end with an attempt, its error column holds the reason. */
function endOf({ error }: Delivery): { reason: string; error: string | undefined } {
  if (error === 'expired' || error === 'exhausted') return { reason: error, error: undefined };
  return { reason: 'exhausted', error };
}

function factsOf(delivery: Delivery) {
  const { event, n, eventName, subscription, callback, attempts, status, error } = delivery;
  return { event, n, eventName, subscription, url: callback.url, attempts, status, error };
}
