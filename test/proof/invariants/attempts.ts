// I5 to I9: duplicates, the contents of requests, the retry schedule, silences and order.
import { createHmac } from 'node:crypto';
import type { Flaw, History, Send } from './history.ts';
import { isTaken } from './ends.ts';
import { sentAgain } from './sent-again.ts';

/** Other nodes obey an unsubscribe, a pause or a move within one second. */
export const obeyMs = 1_000;
const jitter = 0.2;
/** No node may be declared gone sooner; a millisecond less, because clocks have whole milliseconds. */
const silentLeastMs = 29_999;

/** I5: a duplicate needs a cause: its response was lost, or the node that leased it died or was declared gone. */
export function judgeDuplicates(history: History): Flaw[] {
  const { deaths, log } = history;
  const flaws: string[] = [];
  const over = new Map<number, number>();
  const note = (incarnation: number, atMs: number): void => {
    over.set(incarnation, Math.min(over.get(incarnation) ?? Infinity, atMs));
  };
  for (const { incarnation, atMs } of deaths) note(incarnation, atMs);
  for (const { what, n, atMs, a: seenMs } of log) {
    if (what !== 'gone') continue;
    note(n, atMs);
    const silentMs = history.epochMs + atMs - seenMs;
    if (history.isShared && !history.farewells.has(n) && silentMs < silentLeastMs) {
      flaws.push(`node ${n} was declared gone after ${Math.round(silentMs)} ms of silence`);
    }
  }
  for (const [id, sends] of byDelivery(history)) {
    for (const [at, { startedMs: againMs }] of sends.entries()) {
      if (againMs === undefined) continue; // The request never reached its receiver.
      const unexplained = sends
        .slice(0, at)
        .find(
          (before) =>
            isTaken(before) &&
            before.seen === 'answer' &&
            (history.isCalm || (over.get(before.incarnation) ?? Infinity) > againMs),
        );
      if (unexplained !== undefined) {
        flaws.push(`${id} came again at ${againMs}, after ${unexplained.node} saw it accepted`);
      }
    }
  }
  return flaws.map((what) => ({ invariant: 'I5', what }));
}

/** I6: all attempts have the same id and body, a current timestamp, and a valid signature. */
export function judgeRequests({ sends, subscriptions }: History): Flaw[] {
  const flaws: string[] = [];
  const secretsOf = new Map(subscriptions.map(({ id, secrets }) => [id, secrets]));
  const bodyOf = new Map<string, string>();
  for (const one of sends) {
    const { event, delivery, timestampS, wallS, body } = one;
    if (delivery.slice(4, 30) !== event.slice(4)) flaws.push(`${delivery} came as ${event}`);
    if ((bodyOf.get(event) ?? body) !== body) flaws.push(`${event} came with two bodies`);
    bodyOf.set(event, body);
    if (timestampS !== wallS) flaws.push(`${delivery} came with time ${timestampS}, not ${wallS}`);
    const secrets = secretsOf.get(one.subscription);
    if (secrets !== undefined && !isSigned(one, secrets)) {
      flaws.push(
        `${delivery} attempt ${one.attempt} is not signed with a secret of its subscription`,
      );
    }
  }
  return flaws.map((what) => ({ invariant: 'I6', what }));
}

function isSigned(one: Send, secrets: readonly string[]): boolean {
  const signed = Buffer.from(`${one.event}.${one.timestampS}.${one.body}`, 'latin1');
  const given = one.signature.split(' ');
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    return given.includes(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  });
}

/** I7: no retry comes sooner than the schedule or Retry-After allows, and there are no more than scheduled. */
export function judgeSchedule(history: History): Flaw[] {
  const { waitsMs, redriven, clockSteps } = history;
  const { revived } = sentAgain(history);
  const ofSubscription = Map.groupBy(history.sends, ({ subscription }) => subscription);
  const movedInOrder = new Set(
    history.subscriptions.flatMap(({ id, isOrdered, wasMoved }) =>
      isOrdered && wasMoved ? [id] : [],
    ),
  );
  // A new URL closes the circuit breaker, and the first delivery in order is then attempted at once.
  const isRenewed = (one: Send): boolean =>
    movedInOrder.has(one.subscription) &&
    isBroken(ofSubscription.get(one.subscription) ?? [], timeOf(one));
  const flaws: string[] = [];
  for (const [id, sends] of byDelivery(history)) {
    if (redriven.has(id) || revived.has(id)) continue;
    // After a 410 from the old URL, the new one is tried at once.
    const left = sends.filter(({ reply }) => reply === 410).length;
    for (const [at, one] of sends.entries()) {
      if (one.attempt > waitsMs.length + 1 + left)
        flaws.push(`${id} was tried ${one.attempt} times`);
      // The attempt before it. A paused node may have made an unrecorded one with the same number, so it is enough
      // if one of them was long ago.
      const before = sends.slice(0, at).filter(({ attempt }) => attempt === one.attempt - 1);
      const waits = before.map((each) => waitAfter(each, one, waitsMs));
      const soonest = waits.find((wait) => wait !== undefined);
      if (soonest === undefined || !waits.every((wait) => wait?.isTooShort === true)) continue;
      // Setting the only clock changes what is due, also what is written after it by an attempt that began before.
      const isStepped = clockSteps.some((ms) => ms >= soonest.beganMs && ms <= timeOf(one));
      if (isStepped || isRenewed(one)) continue;
      const { waitedMs, leastMs } = soonest;
      flaws.push(`${id} attempt ${one.attempt} came after ${waitedMs} ms, not ${leastMs}`);
    }
  }
  return flaws.map((what) => ({ invariant: 'I7', what }));
}

interface Wait {
  /** The previous attempt did not begin before this time. */
  beganMs: number;
  waitedMs: number;
  leastMs: number;
  isTooShort: boolean;
}

/** Undefined if no node saw the end of the previous attempt. */
function waitAfter(before: Send, one: Send, waitsMs: readonly number[]): Wait | undefined {
  const { seenMs, seen, reply, attempt } = before;
  if (seenMs === undefined) return undefined;
  const waitMs =
    reply === 410 && seen === 'answer' ? 0 : (waitsMs[attempt - 1] ?? 0) * (1 - jitter);
  const leastMs = Math.max(waitMs, seen === 'answer' ? (before.retryAfterMs ?? 0) : 0);
  const waitedMs = timeOf(one) - seenMs;
  const beganMs = timeOf(before) - connectMostMs;
  return { beganMs, waitedMs, leastMs, isTooShort: waitedMs < leastMs - slackMs };
}

/** I7, upper bound: if only receivers fail and the lane has room, no retry comes late. */
export function judgeLateness(history: History): Flaw[] {
  if (!history.isCalm) return [];
  const { waitsMs, redriven } = history;
  const { revived } = sentAgain(history);
  const flaws: string[] = [];
  const judged = new Set(
    history.subscriptions.flatMap(({ id, isOrdered, concurrency, ratePerSecond, wasHeld }) =>
      isOrdered || wasHeld || (concurrency ?? ratePerSecond) !== undefined ? [] : [id],
    ),
  );
  const ofSubscription = Map.groupBy(history.sends, ({ subscription }) => subscription);
  for (const [id, sends] of byDelivery(history)) {
    for (const [at, one] of sends.entries()) {
      const before = sends[at - 1];
      if (before?.seenMs === undefined || !judged.has(one.subscription)) continue;
      if (redriven.has(id) || revived.has(id)) continue;
      const waitMs = (waitsMs[before.attempt - 1] ?? 0) * (1 + jitter);
      const dueMs = before.seenMs + Math.max(waitMs, before.retryAfterMs ?? 0);
      if (timeOf(one) <= dueMs + lateMostMs) continue;
      const others = (ofSubscription.get(one.subscription) ?? []).filter((other) => other !== one);
      if (!isIdle(others, dueMs, timeOf(one)) || wasBroken(others, dueMs, timeOf(one))) continue;
      flaws.push(`${id} attempt ${one.attempt} came ${timeOf(one) - dueMs} ms after its time`);
    }
  }
  return flaws.map((what) => ({ invariant: 'I7', what }));
}

const connectMostMs = 3_100;
const lateMostMs = 1_000 + connectMostMs;

/** The longest time between two claims of a node, in addition. */
const idleMostMs = 7_000;

/** Whether nothing of the lane was in flight for the whole time or for too long, so the wait had no reason. */
function isIdle(sends: readonly Send[], fromMs: number, toMs: number): boolean {
  const busy = sends
    .filter((one) => timeOf(one) < toMs && (one.seenMs ?? Infinity) > fromMs)
    .sort((a, b) => timeOf(a) - timeOf(b));
  if (busy.length === 0) return true;
  let idleSinceMs = fromMs;
  for (const one of busy) {
    if (timeOf(one) - idleSinceMs > idleMostMs) return true;
    idleSinceMs = Math.max(idleSinceMs, one.seenMs ?? Infinity);
  }
  return toMs - idleSinceMs > idleMostMs;
}

function wasBroken(sends: readonly Send[], fromMs: number, toMs: number): boolean {
  const times = sends.map(timeOf).filter((atMs) => atMs > fromMs && atMs < toMs);
  return [fromMs, ...times, toMs].some((atMs) => isBroken(sends, atMs));
}

/** Whether the lane has failed so often in a row that its circuit breaker only lets probes through. */
function isBroken(sends: readonly Send[], atMs: number): boolean {
  const seen = sends
    .filter(({ seenMs = Infinity }) => seenMs <= atMs)
    .sort((a, b) => (a.seenMs ?? 0) - (b.seenMs ?? 0));
  const hasFailed = (one: Send): boolean => !isTaken(one) || one.seen !== 'answer';
  return seen.slice(-brokenAfter).filter(hasFailed).length === brokenAfter;
}

const brokenAfter = 10;

/** Clocks have whole milliseconds, and may advance between two readings. */
const slackMs = 3;

/** I8: once an unsubscribe, a pause or a move was answered, nothing starts (with several nodes: after 1 s). */
export function judgeBarriers(history: History): Flaw[] {
  const flaws: string[] = [];
  const ofSubscription = Map.groupBy(history.sends, ({ subscription }) => subscription);
  const allowedMs = history.isShared ? obeyMs : 0;
  for (const { id, silences } of history.subscriptions) {
    for (const { of, fromMs, toMs, url } of silences) {
      for (const { startedMs, delivery, url: sentTo } of ofSubscription.get(id) ?? []) {
        if (startedMs === undefined || (url !== undefined && url !== sentTo)) continue;
        if (startedMs <= fromMs + allowedMs || startedMs >= toMs) continue;
        flaws.push(`${delivery} started ${startedMs - fromMs} ms after the ${of} of ${id}`);
      }
    }
  }
  return flaws.map((what) => ({ invariant: 'I8', what }));
}

/** I9: an ordered subscription gets one delivery after the other, in the order of acceptance. */
export function judgeOrder(history: History): Flaw[] {
  const flaws: string[] = [];
  const made = Map.groupBy(
    history.log.filter(({ what }) => what === 'made'),
    ({ event, n }) => `dlv_${event}_${n}`,
  );
  // A dead delivery that is sent again goes to the end of the order.
  const numberOf = (one: Send): number =>
    made.get(one.delivery)?.findLast(({ atMs }) => atMs <= timeOf(one))?.a ?? -1;
  const over = new Set(history.log.flatMap(({ what, n }) => (what === 'gone' ? [n] : [])));
  for (const { incarnation } of history.deaths) over.add(incarnation);
  const ofSubscription = Map.groupBy(history.sends, ({ subscription }) => subscription);
  for (const { id, isOrdered } of history.subscriptions) {
    if (!isOrdered) continue;
    const sends = (ofSubscription.get(id) ?? []).filter(({ startedMs }) => startedMs !== undefined);
    const first = new Set<string>();
    let last = -1;
    let busy: Send | undefined;
    for (const one of sends) {
      if (
        busy !== undefined &&
        timeOf(one) < (busy.seenMs ?? Infinity) &&
        !over.has(busy.incarnation)
      ) {
        flaws.push(`${one.delivery} started while ${busy.delivery} was in flight`);
      }
      busy = one;
      if (!isTaken(one) || first.has(one.delivery)) continue;
      first.add(one.delivery);
      const number = numberOf(one);
      if (number < last) flaws.push(`${one.delivery} (${number}) came after ${last}`);
      last = number;
    }
  }
  return flaws.map((what) => ({ invariant: 'I9', what }));
}

function byDelivery({ sends }: History): Map<string, Send[]> {
  return Map.groupBy(sends, ({ delivery }) => delivery);
}

function timeOf({ startedMs, seenMs }: Send): number {
  return startedMs ?? seenMs ?? 0;
}
