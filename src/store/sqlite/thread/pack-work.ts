// Packs the deliveries that a batch claimed or fanned out, on their way back from the write thread.
import type { Leased } from '../../../core/domain/delivery.ts';
import type { Worked } from '../../port/delivery-verbs.ts';
import type { Packing, Unpacking } from './flat-codec.ts';

export function packWorked(to: Packing, { claimed, fannedOut, readyMs }: Worked): void {
  const { deliveries, ...rest } = fannedOut;
  to.list.push(readyMs, rest);
  for (const leased of [claimed, deliveries]) {
    to.list.push(leased.length);
    for (const one of leased) packLeased(to, one);
  }
}

/** Members in the order in which the other side packs them. */
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
  // Not copied into the shared buffer: deliveries of a fan-out share one payload, and a long
  // attempt must not retain those of all others.
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
