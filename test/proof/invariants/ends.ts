// I3, I4, I14: how deliveries end, against what their receivers did.
import type { DeliveryRow, Flaw, History, Send } from './history.ts';
import { sentAgain } from './sent-again.ts';

/** I3: what is called delivered was taken by its receiver. */
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

/** I4: what has ended stays so, unless somebody sends it again, by hand or by a replay. */
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
      flaws.push(`${id} was dead, and nobody has sent it again`);
  }
  return flaws.map((what) => ({ invariant: 'I4', what }));
}

const dead = 2;

/** I14: the sums are right at every instant, and nothing is given up without a reason. */
export function judgeAccounts(history: History): Flaw[] {
  const flaws = [...history.snapshotFlaws];
  const sends = Map.groupBy(history.sends, ({ delivery }) => delivery);
  const ending = endingOf(history);
  const known = new Set(history.subscriptions.map(({ id }) => id));
  for (const one of history.deliveries) {
    flaws.push(...judgeEnd(one, sends.get(one.id) ?? [], history));
    const isUnknown = !known.has(one.subscription);
    if (isUnknown && history.unknownSubscribes === 0) {
      flaws.push(`${one.id} is for ${one.subscription}, which nobody subscribed`);
    }
    if (one.state === 'cancelled' && !isUnknown && !ending.has(one.subscription)) {
      flaws.push(`${one.id} is cancelled, and nobody has unsubscribed`);
    }
  }
  return flaws.map((what) => ({ invariant: 'I14', what }));
}

/** Subscriptions that somebody ended: their owner, their time or their receiver. */
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
  // What a node saw as a failure; the receiver may have taken it.
  const failures = sends.filter(
    (one) => one.seen === 'failure' || (one.seen === 'answer' && !isTaken(one)),
  ).length;
  if (state === 'dead' && (attempts < most || failures < most)) {
    flaws.push(`${id} is dead after ${attempts} attempts, ${failures} of them failed`);
  }
  if (attempts > sends.length) flaws.push(`${id} counts ${attempts} attempts of ${sends.length}`);
  return flaws;
}
