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
import { keysOfListeners, matchingKeys } from '../../rules/pattern-keys.ts';
import { integer, maybe, text } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { all, first, forEach } from '../../sql/statement.ts';
import { deliveriesNamed } from './delivery.ts';
import type { Read } from './verb.ts';

export const noticesSql = {
  // Own events belong to no contract.
  listening: `
    select app from pattern indexed by pattern_alive
    where app = ?1 and contract = '' and pattern = ?2 and died is null limit 1`,
  insert:
    'insert into notice (app, name, payload, created_ms, customer) values (?1, ?2, ?3, ?4, ?5)',
  oldest: `
    select no, app, name, customer, payload from notice where created_ms <= ?1 order by no limit ?2 + 0`,
  leave: 'delete from notice where no = ?1 returning no',
} as const;

export interface NewNotice extends Notice {
  appNo: number;
  /** Of the subscription that it is about. */
  customer: string | undefined;
}

export const notices: Read<'notices'> = function* ({ writtenByMs, limit }) {
  const rows = yield* all(noticesSql.oldest, writtenByMs, limit);
  return rows.map((row) => ({
    no: integer(row, 'no'),
    appNo: integer(row, 'app'),
    name: text(row, 'name'),
    customer: maybe(text, row, 'customer'),
    payload: text(row, 'payload'),
  }));
};

/** Unless nothing is subscribed to it. */
export function* writeNotice(notice: NewNotice, nowMs: number): Script<void> {
  for (const one of yield* withListeners([notice])) yield* insertNotice(one, nowMs);
}

export function* insertNotice(notice: NewNotice, nowMs: number): Script<void> {
  const { appNo, name, payload, customer } = notice;
  yield* all(noticesSql.insert, appNo, name, payload, nowMs, customer ?? null);
}

/** Whether any subscription, of whatever customer, matches a notice. */
export function* hasListeners(appNo: number, name: NoticeName): Script<boolean> {
  const listening = yield* appsListening([appNo], name);
  return listening.size > 0;
}

function* appsListening(apps: readonly number[], name: NoticeName): Script<Set<number>> {
  const keys = keysOfListeners(name);
  const asked = apps.flatMap((appNo) => keys.map((key) => [appNo, key] as const));
  const rows = yield* forEach(noticesSql.listening, asked);
  return new Set(rows.map((row) => integer(row, 'app')));
}

/** Notices of a customer may match no subscription, although those of other customers do. */
function* withListeners(written: readonly NewNotice[]): Script<readonly NewNotice[]> {
  const asked = new Map(
    written.map(({ appNo, name, customer }) => {
      const keys = matchingKeys({ name, customer, subject: undefined, audience: 'everyone' });
      return [JSON.stringify([appNo, name, customer]), keys.map((key) => [appNo, key] as const)];
    }),
  );
  const heard = new Set<string>();
  for (const [question, keys] of asked) {
    if ((yield* forEach(noticesSql.listening, keys)).length > 0) heard.add(question);
  }
  return written.filter(({ appNo, name, customer }) =>
    heard.has(JSON.stringify([appNo, name, customer])),
  );
}

export interface DeadDelivery extends DeliveryName {
  appNo: number;
}

/** The notices of deliveries that just became dead, in order: those that a subscription matches. */
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
  const made = dead.flatMap(({ appNo, ...name }) => {
    const one = found.get(deliveryKey(name));
    if (one === undefined || isOwn(one)) return [];
    const { customer } = one;
    return [{ appNo, customer, ...deadNotice({ ...factsOf(one), ...endOf(one), atMs: nowMs }) }];
  });
  return yield* withListeners(made);
}

/**
 * A receiver ended the subscription of a delivery. The delivery may be a ping: its notice cannot
 * cause a loop, because a subscription ends only once.
 */
export function* noticeGone({ appNo, event, n }: DeadDelivery, nowMs: number): Script<void> {
  if (!(yield* hasListeners(appNo, 'ringback.subscription.gone'))) return;
  const [one] = (yield* deliveriesNamed(appNo, [{ event, n }])).values();
  if (one === undefined || (isOwn(one) && one.eventName !== pingEvent)) return;
  const { customer } = one;
  yield* writeNotice({ appNo, customer, ...goneNotice({ ...factsOf(one), atMs: nowMs }) }, nowMs);
}

/** An event published by SQL violated the contract. */
export function* noticeRejected(appNo: number, facts: RejectedFacts): Script<void> {
  if (!(yield* hasListeners(appNo, 'ringback.event.rejected'))) return;
  yield* writeNotice({ appNo, customer: undefined, ...rejectedNotice(facts) }, facts.atMs);
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
