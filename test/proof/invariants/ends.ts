// I3, I4, I14: compares the end states of deliveries with the responses of their receivers.
import type { DeliveryRow, Flaw, History, Send } from './history.ts';
import { sentAgain } from './sent-again.ts';

/** I3: a delivery marked as delivered was accepted by its receiver. */
export function judgeDelivered({ deliveries, sends }: History): Flaw[] {
  const taken = new Set(sends.flatMap((one) => (isTaken(one) ? [one.delivery] : [])));
  return deliveries
    .filter(({ id, state }) => state === 'delivered' && !taken.has(id))
    .map(({ id }) => ({
      invariant: 'I3',
      what: `${id} is delivered, but no receiver accepted it`,
    }));
}

export function isTaken({ reply }: Send): boolean {
  return reply !== undefined && reply >= 200 && reply <= 299;
}

/** I4: an ended delivery stays ended, unless a retry by hand or a replay sends it again. */
export function judgeTerminal(history: History): Flaw[] {
  const { log, redriven } = history;
  const { revived } = sentAgain(history);
  const flaws: string[] = [];
  for (const { what, event, n, a, b } of log) {
    const id = `dlv_${event}_${n}`;
    if (what === 'changed') flaws.push(`${id} went from ${a} to ${b}`);
    if (what !== 'left') continue;
    if (a !== dead) flaws.push(`${id} left the end state ${a}`);
    else if (!redriven.has(id) && !revived.has(id))
      flaws.push(`${id} was dead, and left that state without a retry or a replay`);
  }
  return flaws.map((what) => ({ invariant: 'I4', what }));
}

const dead = 2;

/** I14: the counts agree at every moment, and no delivery ends dead or cancelled without a reason. */
export function judgeAccounts(history: History): Flaw[] {
  const flaws = [...history.snapshotFlaws];
  const sends = Map.groupBy(history.sends, ({ delivery }) => delivery);
  const ending = endingOf(history);
  const known = new Set(history.subscriptions.map(({ id }) => id));
  for (const one of history.deliveries) {
    flaws.push(...judgeEnd(one, sends.get(one.id) ?? [], history));
    const isUnknown = !known.has(one.subscription);
    if (isUnknown && history.unknownSubscribes === 0) {
      flaws.push(`${one.id} is for ${one.subscription}, which was never subscribed`);
    }
    if (one.state === 'cancelled' && !isUnknown && !ending.has(one.subscription)) {
      flaws.push(`${one.id} is cancelled, but its subscription has not ended`);
    }
  }
  return flaws.map((what) => ({ invariant: 'I14', what }));
}

/** Subscriptions ended by their owner, by expiry or by their receiver. */
export function endingOf({ subscriptions, sends }: History): Set<string> {
  const ending = new Set(
    subscriptions.flatMap(({ id, endAskedMs }) => (endAskedMs === undefined ? [] : [id])),
  );
  for (const { subscription, reply } of sends) if (reply === 410) ending.add(subscription);
  return ending;
}

function judgeEnd(
  { id, state, attempts }: DeliveryRow,
  sends: readonly Send[],
  { waitsMs }: History,
): string[] {
  const flaws: string[] = [];
  const most = waitsMs.length + 1;
  // Failures as the node saw them; the receiver may have accepted the request.
  const failures = sends.filter(
    (one) => one.seen === 'failure' || (one.seen === 'answer' && !isTaken(one)),
  ).length;
  if (state === 'dead' && (attempts < most || failures < most)) {
    flaws.push(`${id} is dead after ${attempts} attempts, ${failures} of them failed`);
  }
  if (attempts > sends.length) flaws.push(`${id} counts ${attempts} attempts of ${sends.length}`);
  return flaws;
}
