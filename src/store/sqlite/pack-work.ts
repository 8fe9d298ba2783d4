// What a batch has taken up, on its way back from the thread that writes.
import type { Leased } from '../../core/delivery.ts';
import type { Worked } from '../delivery-verbs.ts';
import type { Packing, Unpacking } from './parcel.ts';

export function packWorked(to: Packing, { claimed, fannedOut, readyMs }: Worked): void {
  const { deliveries, ...rest } = fannedOut;
  to.list.push(readyMs, rest);
  for (const leased of [claimed, deliveries]) {
    to.list.push(leased.length);
    for (const one of leased) packLeased(to, one);
  }
}

/** Members stand in the order of the list: they are read as they are written. */
export function unpackWorked(from: Unpacking): Worked {
  const readyMs = from.next<number | undefined>();
  const rest = from.next<Omit<Worked['fannedOut'], 'deliveries'>>();
  return {
    readyMs,
    claimed: from.nextFew(() => unpackLeased(from)),
    fannedOut: { ...rest, deliveries: from.nextFew(() => unpackLeased(from)) },
  };
}

function packLeased(to: Packing, leased: Leased): void {
  const { event, n, appNo, lane, callback, version, concurrency, lease, tries, attempts } = leased;
  to.list.push(event, n, appNo, lane, callback, version, concurrency, lease, tries, attempts);
  // As it is: those of a fan-out share one, and one that is long under way must not hold those of all others.
  to.list.push(leased.eventName, leased.trace, leased.payload);
}

function unpackLeased(from: Unpacking): Leased {
  return {
    event: from.next(),
    n: from.next(),
    appNo: from.next(),
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
