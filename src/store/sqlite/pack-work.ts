// Work of deliveries on its way to the thread that writes, and what it led to on its way back.
import type { Header } from '../../core/attempt.ts';
import type { Leased } from '../../core/delivery.ts';
import type { SettleReply, WorkReply } from '../call.ts';
import type { AttemptRecord, Settlement, Work } from '../delivery-verbs.ts';
import { Packing, Unpacking, type Parcel } from './parcel.ts';

export function packWork({ nowMs, claim, fanOut, settlements }: Work): Parcel {
  const to = new Packing();
  to.list.push(nowMs, claim, fanOut, settlements.length);
  for (const { event, n, lease, outcome, attempt } of settlements) {
    const isDelivered = outcome.kind === 'delivered';
    to.list.push(event, n, lease, isDelivered ? undefined : outcome, attempt !== undefined);
    if (attempt !== undefined) packAttempt(to, attempt);
  }
  return to.parcel();
}

/** Members stand in the order of the list, here and below: they are read as they are written. */
export function unpackWork(parcel: Parcel): Work {
  const from = new Unpacking(parcel);
  return {
    nowMs: from.next(),
    claim: from.next(),
    fanOut: from.next(),
    settlements: from.nextFew((): Settlement => ({
      event: from.next(),
      n: from.next(),
      lease: from.next(),
      outcome: from.next<Settlement['outcome'] | undefined>() ?? { kind: 'delivered' },
      attempt: from.next<boolean>() ? unpackAttempt(from) : undefined,
    })),
  };
}

function packAttempt(to: Packing, attempt: AttemptRecord): void {
  const { node, startedMs, tookMs, status, error, message, warning, request, response } = attempt;
  to.list.push(node, startedMs, tookMs, status, error, message, warning);
  to.list.push(request.method, request.url, response !== undefined);
  if (response === undefined) return;
  to.list.push(response.cut, response.headers.length);
  for (const [name, value] of response.headers) to.list.push(name, value);
  to.addBytes(response.body);
}

function unpackAttempt(from: Unpacking): AttemptRecord {
  return {
    node: from.next(),
    startedMs: from.next(),
    tookMs: from.next(),
    status: from.next(),
    error: from.next(),
    message: from.next(),
    warning: from.next(),
    request: { method: from.next(), url: from.next() },
    response: from.next<boolean>() ? unpackResponse(from) : undefined,
  };
}

function unpackResponse(from: Unpacking): AttemptRecord['response'] {
  return {
    cut: from.next(),
    headers: from.nextFew((): Header => [from.next(), from.next()]),
    body: from.nextBytes(),
  };
}

type DoneWork = Extract<WorkReply, { kind: 'worked' }>;

export function packWorked({ settled, claimed, fannedOut, readyMs }: DoneWork): Parcel {
  const to = new Packing();
  const { deliveries, ...rest } = fannedOut;
  to.list.push(readyMs, rest, settled.length);
  for (const reply of settled) packSettled(to, reply);
  for (const leased of [claimed, deliveries]) {
    to.list.push(leased.length);
    for (const one of leased) packLeased(to, one);
  }
  return to.parcel();
}

export function unpackWorked(parcel: Parcel): DoneWork {
  const from = new Unpacking(parcel);
  const readyMs = from.next<number | undefined>();
  const rest = from.next<Omit<DoneWork['fannedOut'], 'deliveries'>>();
  return {
    kind: 'worked',
    readyMs,
    settled: from.nextFew(() => unpackSettled(from)),
    claimed: from.nextFew(() => unpackLeased(from)),
    fannedOut: { ...rest, deliveries: from.nextFew(() => unpackLeased(from)) },
  };
}

/** One that was settled, as nearly all are, goes as the concurrency of its lane; anything else as it is. */
function packSettled(to: Packing, reply: SettleReply): void {
  const settled =
    reply.kind === 'done' && reply.output.kind === 'settled' ? reply.output : undefined;
  to.list.push(settled === undefined ? reply : settled.concurrency);
}

function unpackSettled(from: Unpacking): SettleReply {
  const said = from.next<SettleReply | number | undefined>();
  if (typeof said === 'object') return said;
  const output = said === undefined ? {} : { concurrency: said };
  return { kind: 'done', output: { kind: 'settled', ...output } };
}

function packLeased(to: Packing, leased: Leased): void {
  const { event, n, lane, callback, version, concurrency, lease, tries, attempts } = leased;
  to.list.push(event, n, lane, callback, version, concurrency, lease, tries, attempts);
  // As it is: those of a fan-out share one, and one that is long under way must not hold those of all others.
  to.list.push(leased.eventName, leased.trace, leased.payload);
}

function unpackLeased(from: Unpacking): Leased {
  return {
    event: from.next(),
    n: from.next(),
    lane: from.next(),
    callback: from.next(),
    version: from.next(),
    concurrency: from.next(),
    lease: from.next(),
    tries: from.next(),
    attempts: from.next(),
    eventName: from.next(),
    trace: from.next(),
    payload: from.next(),
  };
}
