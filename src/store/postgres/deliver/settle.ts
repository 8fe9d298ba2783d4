// Settles many deliveries at once: records their attempts, and ends or releases each delivery. The
// lease is the proof of ownership: if it has changed, nothing is written.
import { deliveryKey } from '../../../core/domain/delivery.ts';
import type { Lane, LaneTimes } from '../../../core/domain/lane.ts';
import { settled as laneSettled } from '../../../core/domain/lane.ts';
import type { Fact } from '../../statistics/transaction-facts.ts';
import { noteSettled } from '../../statistics/transaction-facts.ts';
import type { Settled, Settlement } from '../../port/delivery-verbs.ts';
import type { Changes } from '../../rules/settlement-rules.ts';
import { isLast, laneOutcome, settledIn } from '../../rules/settlement-rules.ts';
import { endOwner } from '../../verbs/subscriptions/end-subscription.ts';
import type { DeadDelivery } from '../../verbs/shared/notices.ts';
import { lockLanes, writeLanes } from '../publish/lanes.ts';
import { noticeDead } from '../publish/notices.ts';
import type { Back, Item } from './settle-rows.ts';
import { back, end, find, settleSql } from './settle-rows.ts';
import type { Tx } from '../connection/tx.ts';

export interface SettledAll {
  /** In the order of the settlements. */
  replies: Settled[];
  wentBack: number;
  /** The facts to count in the figures. */
  facts: Fact[];
  changes: Changes;
}

export async function settleAll(
  tx: Tx,
  settlements: readonly Settlement[],
  nowMs: number,
): Promise<SettledAll> {
  const replies = settlements.map((): Settled => ({ kind: 'stale' }));
  await lockApps(tx, settlements);
  const facts: Fact[] = [];
  const changes: Changes = new Map();
  let wentBack = 0;
  for (const piece of piecesOf(settlements)) {
    const done = await settlePiece(tx, piece, nowMs);
    for (const { i } of done.moved) {
      replies[i] = done.overdue.get(i) ?? settledIn(done.laneOf(i));
    }
    facts.push(...done.facts);
    for (const [no, times] of done.changes) changes.set(no, times);
    await noticeDead(tx, done.dead, nowMs);
    wentBack += done.wentBack;
    const last = piece.at(-1);
    const callback = last && done.owners.get(last.i);
    if (last?.settlement.outcome.kind === 'gone' && callback !== undefined) {
      const { event, n } = last.settlement;
      replies[last.i] = await tx.run(endOwner({ event, n, callback }, nowMs));
    }
  }
  return { replies, wentBack, facts, changes };
}

/**
 * Splits settlements where order matters: `gone` ends lanes of later ones, so it is the last of its
 * piece, and a second settlement of one delivery must see what the first one wrote.
 */
function piecesOf(settlements: readonly Settlement[]): Item[][] {
  const pieces: Item[][] = [];
  let piece: Item[] = [];
  const names = new Set<string>();
  const cut = (): void => {
    if (piece.length > 0) pieces.push(piece);
    piece = [];
    names.clear();
  };
  for (const [i, settlement] of settlements.entries()) {
    const name = deliveryKey(settlement);
    if (names.has(name)) cut();
    names.add(name);
    piece.push({ i, settlement });
    if (settlement.outcome.kind === 'gone') cut();
  }
  cut();
  return pieces;
}

/** Ending a subscription locks its app before any lane, as everywhere. */
async function lockApps(tx: Tx, settlements: readonly Settlement[]): Promise<void> {
  const gone = settlements.filter(({ outcome }) => outcome.kind === 'gone');
  if (gone.length === 0) return;
  const events = gone.map(({ event }) => event);
  await tx.query(settleSql.lockApps, [events, gone.map(({ n }) => n)]);
}

interface PieceDone {
  moved: readonly Item[];
  /** By index: the lane as it was found. */
  laneOf: (i: number) => Pick<Lane, 'concurrency'>;
  wentBack: number;
  facts: Fact[];
  changes: Changes;
  /** Callbacks of ended deliveries. */
  owners: ReadonlyMap<number, number>;
  dead: readonly DeadDelivery[];
  /** By index: failures after which the subscription should be disabled. */
  overdue: ReadonlyMap<number, Settled>;
}

async function settlePiece(tx: Tx, piece: readonly Item[], nowMs: number): Promise<PieceDone> {
  const [ended, found] = await Promise.all([
    end(
      tx,
      piece.filter((item) => !goesBack(item)),
      nowMs,
    ),
    find(tx, piece.filter(goesBack)),
  ]);
  const numbers = new Map([...ended.lanes, ...found.lanes]);
  const byLane = Map.groupBy(
    piece.filter(({ i }) => numbers.has(i)),
    ({ i }) => numbers.get(i) ?? 0,
  );
  const toLock = [...byLane]
    .filter(([no, items]) => items.some(goesBack) || isChanged(ended.seen.get(no), items, nowMs))
    .map(([no]) => no);
  const { owners, seen } = ended;
  const laneOf = (i: number) => seen.get(numbers.get(i) ?? 0) ?? { concurrency: undefined };
  if (toLock.length === 0) {
    const moved = piece.filter(({ i }) => owners.has(i));
    const { facts, dead } = ended;
    return {
      moved,
      laneOf,
      wentBack: 0,
      facts,
      changes: new Map(),
      owners,
      dead,
      overdue: new Map(),
    };
  }
  const locked = await lockLanes(tx, toLock);
  for (const [no, lane] of locked) seen.set(no, lane);
  const backs = [...locked.values()].flatMap((lane) =>
    (byLane.get(lane.no) ?? []).filter(goesBack).map((item): Back => ({ ...item, lane })),
  );
  const [cancelled, returned] = await Promise.all([
    end(tx, backs.filter(isEnded), nowMs),
    back(
      tx,
      backs.filter((one) => !isEnded(one)),
    ),
  ]);
  const isMoved = ({ i }: Item) => owners.has(i) || cancelled.owners.has(i) || returned.has(i);
  const apps = new Map([...ended.apps, ...found.apps]);
  const overdue = new Map<number, Settled>();
  const changes: Changes = new Map();
  // A delivery whose lease was lost says nothing about its lane: another node may have opened or
  // closed it since.
  const lanes = [...locked.values()].flatMap((before) => {
    const items = (byLane.get(before.no) ?? []).filter(isMoved);
    const { lane, last, times } = laneAfter(before, items, nowMs);
    if (times !== undefined) changes.set(lane.no, times);
    for (const i of last)
      overdue.set(i, { kind: 'overdue', appNo: apps.get(i) ?? 0, lane: lane.no });
    return items.length === 0 ? [] : [lane];
  });
  await writeLanes(tx, lanes);
  const facts = [...ended.facts, ...cancelled.facts];
  for (const { i, settlement, lane } of backs) {
    const owner = { appNo: found.apps.get(i) ?? 0, lane: lane.no };
    if (returned.has(i)) noteSettled(facts, owner, { settlement, state: undefined });
  }
  const { dead } = ended;
  const moved = piece.filter(isMoved);
  return { moved, laneOf, wentBack: returned.size, facts, changes, owners, dead, overdue };
}

/**
 * `last`: indexes of failures after which the subscription should be disabled. `times`: the lane's
 * new times, if they changed.
 */
function laneAfter(
  before: Lane,
  items: readonly Item[],
  nowMs: number,
): { lane: Lane; last: number[]; times: LaneTimes | undefined } {
  let lane = before;
  let times: LaneTimes | undefined;
  const last: number[] = [];
  for (const { i, settlement } of items) {
    const after = laneSettled(lane, nowMs, laneOutcome(settlement, nowMs));
    if (isLast(lane, after, nowMs)) last.push(i);
    lane = { ...lane, ...after };
    if (settlement.outcome.kind !== 'gone') times = after ?? times; // `gone` ends the lane.
  }
  return { lane, last, times };
}

function goesBack({ settlement: { outcome } }: Item): boolean {
  return 'dueMs' in outcome;
}

function isEnded({ lane }: Back): boolean {
  return lane.state === 'ended';
}

/** Whether these outcomes change a lane that is not locked yet. */
function isChanged(lane: Lane | undefined, items: readonly Item[], nowMs: number): boolean {
  if (lane === undefined) return false;
  return items.some(
    ({ settlement }) => laneSettled(lane, nowMs, laneOutcome(settlement, nowMs)) !== undefined,
  );
}
