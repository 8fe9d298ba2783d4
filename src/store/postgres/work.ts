// A cycle of work in one transaction: settlements, then a claim, then one step of a large fan-out.
import { limits } from '../../core/limits.ts';
import type { SettleReply } from '../call.ts';
import type { Settled, Settlement, Work, Worked } from '../delivery-verbs.ts';
import { birthsFor, noSlots, slotsOf } from '../slots.ts';
import type { Floors } from './claim.ts';
import { claim } from './claim.ts';
import { fanOut } from './fan-out.ts';
import { isFanningOut, nextReadyMs } from './outlook.ts';
import type { Way } from './savepoint.ts';
import { inSavepoint } from './savepoint.ts';
import { settleAll } from './settle.ts';
import type { Tx } from './tx.ts';

export interface WorkContext {
  nowMs: number;
  floors: FloorKeeper;
  lingerMs: { least: number; most: number };
}

export interface WorkDone {
  worked: Omit<Worked, 'settled'> & { settled: readonly SettleReply[] };
  /** Deliveries that others could claim now. */
  waiting: number;
}

export async function doWork(
  tx: Tx,
  work: Work,
  context: WorkContext,
  way: Way,
): Promise<WorkDone> {
  const { nowMs, floors, lingerMs } = context;
  const { settled, wentBack } = await settle(tx, work.settlements, { nowMs, way });
  const slots = work.claim === undefined ? noSlots : slotsOf(work.claim);
  const input = { slots, nowMs, floors: floors.next(nowMs), lingerMs };
  const claimed = work.claim === undefined ? undefined : await claim(tx, input);
  floors.heard(claimed?.firstReadyMs);
  const births = birthsFor(work.fanOut);
  for (const { lane } of claimed?.deliveries ?? []) births.slots.take(lane); // Of one window.
  const fannedOut = work.fanOut === undefined ? undefined : await fanOut(tx, { births, nowMs });
  const [isMore, readyMs] = await Promise.all([
    isFanningOut(tx),
    nextReadyMs(tx, work.claim === undefined ? births.slots : slots),
  ]);
  const { deliveries = [], waiting = 0 } = fannedOut ?? {};
  const worked = {
    settled,
    claimed: claimed?.deliveries ?? [],
    fannedOut: { deliveries, isMore },
    readyMs,
  };
  return { worked, waiting: waiting + wentBack };
}

async function settle(
  tx: Tx,
  settlements: readonly Settlement[],
  { nowMs, way }: { nowMs: number; way: Way },
): Promise<{ settled: SettleReply[]; wentBack: number }> {
  if (way === 'together') {
    const { replies, wentBack } = await settleAll(tx, settlements, nowMs);
    return { settled: replies.map((output) => ({ kind: 'done', output })), wentBack };
  }
  const settled: SettleReply[] = [];
  let wentBack = 0;
  for (const settlement of settlements) {
    const reply = await inSavepoint(tx, 'settle', async (): Promise<Settled> => {
      const done = await settleAll(tx, [settlement], nowMs);
      wentBack += done.wentBack;
      return done.replies[0] ?? { kind: 'stale' };
    });
    settled.push(reply);
  }
  return { settled, wentBack };
}

/** What there is to say when a claim would find nothing: no transaction is begun for that. */
export async function findsNothing(
  tx: Tx,
  work: Work,
  nowMs: number,
): Promise<WorkDone | undefined> {
  const offer = work.claim ?? work.fanOut;
  const slots = offer === undefined ? noSlots : slotsOf(offer);
  const [isMore, readyMs] = await Promise.all([isFanningOut(tx), nextReadyMs(tx, slots)]);
  const isReady = work.claim !== undefined && readyMs !== undefined && readyMs <= nowMs;
  if (isReady || (isMore && work.fanOut !== undefined)) return undefined;
  const fannedOut = { deliveries: [], isMore };
  return { worked: { settled: [], claimed: [], fannedOut, readyMs }, waiting: 0 };
}

export interface FloorKeeper {
  next(nowMs: number): Floors;
  /** From when on the first lane of a claim was ready; undefined when it found none. */
  heard(firstReadyMs: number | undefined): void;
}

/**
 * A transaction that stays open for long, anybody's, keeps dead entries at the start of the indexes that
 * claims walk: without floors 17,800 claimed and settled a second fell to 5,200 within 20 s. What lies
 * below a floor is looked at every few seconds all the same.
 */
export function keepFloors(floorMs: number): FloorKeeper {
  let readyMs = 0;
  let droppedMs = 0;
  return {
    next: (nowMs) => {
      const isDropped = nowMs - droppedMs >= limits.floorDropMs || nowMs < droppedMs;
      if (isDropped) droppedMs = nowMs;
      return { readyMs: isDropped ? 0 : readyMs, isDropped };
    },
    heard: (firstReadyMs) => {
      readyMs = Math.max((firstReadyMs ?? 0) - floorMs, 0);
    },
  };
}
