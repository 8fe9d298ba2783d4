// Work of deliveries on its way to the thread that writes, and what it led to on its way back.
import type { Leased } from '../../core/delivery.ts';
import type { WorkReply } from '../call.ts';
import type { Work } from '../delivery-verbs.ts';
import { packSettled, packSettlements, unpackSettled, unpackSettlements } from './pack-outcomes.ts';
import { Packing, Unpacking, type Parcel } from './parcel.ts';

export function packWork({ nowMs, claim, fanOut, settlements }: Work): Parcel {
  const to = new Packing();
  to.list.push(nowMs, claim, fanOut);
  packSettlements(to, settlements);
  return to.parcel();
}

/** Members stand in the order of the list: they are read as they are written. */
export function unpackWork(parcel: Parcel): Work {
  const from = new Unpacking(parcel);
  return {
    nowMs: from.next(),
    claim: from.next(),
    fanOut: from.next(),
    settlements: unpackSettlements(from),
  };
}

type DoneWork = Extract<WorkReply, { kind: 'worked' }>;

export function packWorked({ settled, claimed, fannedOut, readyMs }: DoneWork): Parcel {
  const to = new Packing();
  const { deliveries, ...rest } = fannedOut;
  to.list.push(readyMs, rest);
  packSettled(to, settled);
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
    settled: unpackSettled(from),
    claimed: from.nextFew(() => unpackLeased(from)),
    fannedOut: { ...rest, deliveries: from.nextFew(() => unpackLeased(from)) },
  };
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
