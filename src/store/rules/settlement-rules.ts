// What an outcome means for the delivery and its lane, the same on both databases. Pure.
import type { Lane, LaneOutcome, LaneTimes } from '../../core/domain/lane.ts';
import { isOverdue } from '../../core/domain/circuit-breaker.ts';
import { never } from '../../core/domain/lane.ts';
import type { Settled, Settlement } from '../port/delivery-verbs.ts';
import type { EndState } from '../sql/end-states.ts';

type Outcome = Settlement['outcome'];

/** Undefined when the delivery becomes pending again; in an ended lane it is cancelled instead. */
export function endStateOf(outcome: Outcome, lane: Pick<Lane, 'state'>): EndState | undefined {
  switch (outcome.kind) {
    case 'delivered':
    case 'dead':
    case 'cancelled':
      return outcome.kind;
    case 'gone':
      return 'cancelled';
    case 'retry':
    case 'released':
      return lane.state === 'ended' ? 'cancelled' : undefined;
  }
}

/** Why the settlement may end the subscription of its delivery; undefined if it does not: see endOwner(). */
export function endReasonOf({ outcome, finals }: Settlement): 'gone' | 'final' | undefined {
  if (outcome.kind === 'gone') return 'gone';
  const isOver = outcome.kind === 'delivered' || outcome.kind === 'dead';
  return finals !== undefined && isOver ? 'final' : undefined;
}

/** When it is due again. An ordered delivery keeps its order number: its lane waits for it. */
export function dueAgainMs(
  outcome: Outcome,
  lane: Pick<Lane, 'ordered'>,
  nowMs: number,
): number | undefined {
  return 'waitMs' in outcome && !lane.ordered ? nowMs + outcome.waitMs : undefined;
}

/** Why it ended, as shown to users. */
export function errorOf({ outcome, attempt }: Settlement): string | undefined {
  return attempt?.error ?? (outcome.kind === 'dead' ? outcome.reason : undefined);
}

/** The reply to the node, with the lane's limit of deliveries in flight. */
export function settledIn({ concurrency }: Pick<Lane, 'concurrency'>): Settled {
  return concurrency === undefined ? { kind: 'settled' } : { kind: 'settled', concurrency };
}

/** By lane number: the times of lanes that outcomes have changed. */
export type Changes = Map<number, LaneTimes>;

/** When the first of them is ready; undefined when none will be. */
export function firstReadyMs(changes: Changes): number | undefined {
  const firstMs = changes.values().reduce((ms, { readyMs }) => Math.min(ms, readyMs), never);
  return firstMs === never ? undefined : firstMs;
}

/** Whether a settlement was the failure after which the lane's subscription should be disabled. */
export function isLast(lane: Lane, times: LaneTimes | undefined, nowMs: number): boolean {
  if (times === undefined || times.failures <= lane.failures) return false;
  return isOverdue({ ...lane, ...times }, nowMs);
}

export function laneOutcome({ outcome, attempt }: Settlement, nowMs: number): LaneOutcome {
  const startedMs = attempt?.startedMs ?? nowMs;
  switch (outcome.kind) {
    case 'delivered':
    case 'cancelled':
      return outcome;
    case 'released':
      return { kind: 'released', dueMs: nowMs + outcome.waitMs };
    case 'gone':
      return { kind: 'cancelled' };
    case 'retry':
      return { kind: 'failed', dueMs: nowMs + outcome.waitMs, startedMs };
    case 'dead':
      return { kind: 'failed', dueMs: undefined, startedMs };
  }
}
