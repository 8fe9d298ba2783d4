// A cycle of work: settlements and a claim in one transaction, a step of a large fan-out in
// another.
import type { Leased } from '../../../core/domain/delivery.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { StalledFanOuts } from '../../rules/fan-outs.ts';
import type { SettleReply } from '../../port/transport-protocol.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import type { NextWork, Settled, Settlement, Work, Worked } from '../../port/delivery-verbs.ts';
import type { Changes } from '../../rules/settlement-rules.ts';
import { firstReadyMs } from '../../rules/settlement-rules.ts';
import type { OfferSlots } from '../../rules/offer-slots.ts';
import { insertLeasesFor, laneOf, noSlots, slotsOf } from '../../rules/offer-slots.ts';
import type { AppTurns, Floors } from '../deliver/claim.ts';
import { claim } from '../deliver/claim.ts';
import { fanOut } from '../deliver/fan-out.ts';
import { type StatisticsContext, writeStatistics } from '../upkeep/statistics.ts';
import { findNextWork, withNextWork } from '../deliver/next-work.ts';
import { type BatchMode, inSavepoint, type Tx } from '../connection/tx.ts';
import type { SettledAll } from '../deliver/settle.ts';
import { settleAll } from '../deliver/settle.ts';
import type { Done } from '../connection/transact.ts';

export interface WorkContext extends Omit<StatisticsContext, 'facts'> {
  floors: FloorKeeper;
  turns: AppTurns;
  stalled: StalledFanOuts;
  lingerMs: { least: number; most: number };
}

export interface WorkDone {
  worked: Worked & { settled: readonly SettleReply[] };
  /** Deliveries that other nodes could claim now. */
  waiting: number;
  /** The facts that were counted. */
  facts: readonly Fact[];
}

export async function doWork(
  tx: Tx,
  work: Work,
  context: WorkContext,
  mode: BatchMode,
): Promise<Done<WorkDone>> {
  const { nowMs, floors, turns, lingerMs, stalled } = context;
  const { settled, returnedCount, facts, changes } = await settle(tx, work.settlements, {
    nowMs,
    mode,
  });
  const slots = slotsFor(work);
  let claimed: Leased[] = [];
  if (work.claim !== undefined) {
    const input = { slots, nowMs, floors: floors.next(nowMs), turns, lingerMs };
    const found = await claim(tx, input);
    floors.observed(found.firstReadyMs);
    claimed = found.deliveries;
  }
  const asked = nextWorkFor(tx, work, { slots, changes, stalled });
  const nextWork = besideStatistics(tx, asked, { ...context, facts });
  const ended = withNextWork(nextWork, nowMs, (ahead): WorkDone => {
    const fannedOut = { deliveries: [], isMore: ahead.isFanningOut };
    const worked = { settled, claimed, fannedOut, readyMs: ahead.readyMs };
    return { worked, waiting: returnedCount, facts };
  });
  return { ...ended, written: [] };
}

async function besideStatistics(
  tx: Tx,
  asked: Promise<NextWork>,
  context: StatisticsContext,
): Promise<NextWork> {
  const [nextWork] = await Promise.all([asked, writeStatistics(tx, context)]);
  return nextWork;
}

/**
 * Runs a step of a fan-out in a transaction of its own: a claim locks lanes in the order in which
 * they became ready, a fan-out by their numbers, so in one transaction two nodes could deadlock.
 */
export async function doFanOut(
  tx: Tx,
  { work, done, context }: { work: Work; done: WorkDone; context: WorkContext },
  mode: BatchMode,
): Promise<Done<WorkDone>> {
  const { nowMs, stalled } = context;
  const facts: Fact[] = [];
  // If items run alone, a later rollback may undo an insert, so nothing is inserted already leased.
  const insertLeases = insertLeasesFor(mode === 'together' ? work.fanOut : undefined);
  const isOfStep = work.claim === undefined && mode === 'together';
  const slots = isOfStep ? insertLeases.slots : slotsFor(work);
  // The offers may share one window, or be the same offer.
  for (const each of new Set([insertLeases.slots, slots])) {
    for (const one of done.worked.claimed) each.take(laneOf(one));
  }
  const step = await fanOut(tx, { insertLeases, nowMs, facts, stalled, mode });
  const nextWork = besideStatistics(tx, findNextWork(tx, slots, stalled), { ...context, facts });
  const ended = withNextWork(nextWork, nowMs, (ahead): WorkDone => {
    const { deliveries, waiting, isDone } = step;
    // If another node works on the only fan-out, asking again at once would be in vain.
    const fannedOut = { deliveries, isMore: isDone && ahead.isFanningOut };
    const worked = { ...done.worked, fannedOut, readyMs: ahead.readyMs };
    return { worked, waiting: done.waiting + waiting, facts };
  });
  return { ...ended, written: [] };
}

export const nothingDone: WorkDone = {
  worked: {
    settled: [],
    claimed: [],
    fannedOut: { deliveries: [], isMore: true },
    readyMs: undefined,
  },
  waiting: 0,
  facts: [],
};

function slotsFor({ claim: claimOffer, fanOut: fanOutOffer }: Work): OfferSlots {
  const offer = claimOffer ?? fanOutOffer;
  return offer === undefined ? noSlots : slotsOf(offer);
}

/**
 * Without an offer it is unknown which lanes are full; only lanes that this work has changed count
 * then.
 */
async function nextWorkFor(
  tx: Tx,
  { claim: claimOffer, fanOut: fanOutOffer }: Work,
  { slots, changes, stalled }: { slots: OfferSlots; changes: Changes; stalled: StalledFanOuts },
): Promise<NextWork> {
  if ((claimOffer ?? fanOutOffer) !== undefined) return findNextWork(tx, slots, stalled);
  const nextWork = await findNextWork(tx, undefined, stalled);
  return { ...nextWork, readyMs: firstReadyMs(changes) };
}

async function settle(
  tx: Tx,
  settlements: readonly Settlement[],
  { nowMs, mode }: { nowMs: number; mode: BatchMode },
): Promise<Omit<SettledAll, 'replies'> & { settled: SettleReply[] }> {
  if (mode === 'together') {
    const { replies, ...rest } = await settleAll(tx, settlements, nowMs);
    return { settled: replies.map((output) => ({ kind: 'done', output })), ...rest };
  }
  const settled: SettleReply[] = [];
  const facts: Fact[] = [];
  const changes: Changes = new Map();
  let returnedCount = 0;
  for (const settlement of settlements) {
    const reply = await inSavepoint(tx, 'settle', async (): Promise<Settled> => {
      const done = await settleAll(tx, [settlement], nowMs);
      returnedCount += done.returnedCount;
      facts.push(...done.facts);
      for (const [no, times] of done.changes) changes.set(no, times);
      return done.replies[0] ?? { kind: 'stale' };
    });
    settled.push(reply);
  }
  return { settled, returnedCount, facts, changes };
}

/** The result if a claim would find nothing, so that no transaction is begun for it. */
export async function findsNothing(
  tx: Tx,
  work: Work,
  { nowMs, stalled }: Pick<WorkContext, 'nowMs' | 'stalled'>,
): Promise<WorkDone | undefined> {
  const asked = { slots: slotsFor(work), changes: new Map(), stalled };
  const { readyMs, isFanningOut: isMore } = await nextWorkFor(tx, work, asked);
  const isReady = work.claim !== undefined && readyMs !== undefined && readyMs <= nowMs;
  if (isReady || (isMore && work.fanOut !== undefined)) return undefined;
  const fannedOut = { deliveries: [], isMore };
  return { ...nothingDone, worked: { settled: [], claimed: [], fannedOut, readyMs } };
}

export interface FloorKeeper {
  next(nowMs: number): Floors;
  /** Records when the first lane of a claim became ready; undefined if it found none. */
  observed(firstMs: number | undefined): void;
}

/**
 * A long-running transaction, of anyone, keeps dead entries at the start of the indexes that claims
 * scan, and without floors throughput drops to a fraction within seconds (docs/performance.md).
 * What lies below a floor is still scanned every few seconds.
 */
export function keepFloors(floorMs: number = limits.floorMs): FloorKeeper {
  let readyMs = 0;
  let droppedMs = 0;
  return {
    next: (nowMs) => {
      const isDropped = nowMs - droppedMs >= limits.floorDropMs || nowMs < droppedMs;
      if (isDropped) droppedMs = nowMs;
      return { readyMs: isDropped ? 0 : readyMs, isDropped };
    },
    observed: (firstMs) => {
      readyMs = Math.max((firstMs ?? 0) - floorMs, 0);
    },
  };
}
