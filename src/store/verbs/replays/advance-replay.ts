// One step of a replay: sends the deliveries that the walk found again, and moves the cursor, in
// one transaction. So a crash neither repeats nor skips any, and when two nodes try the same step,
// one of them changes nothing.
import { strict as assert } from 'node:assert';
import { limits } from '../../../core/limits/limits.ts';
import type { Replay } from '../../../core/domain/replay.ts';
import { nextStepMs } from '../../../core/domain/replay.ts';
import { integer } from '../../sql/row.ts';
import type { Script } from '../../sql/statement.ts';
import { first, only } from '../../sql/statement.ts';
import type { EditInput } from '../../port/store.ts';
import { lockLane } from '../shared/lanes.ts';
import { madeOf, toReplay } from './replays.ts';
import { sendAgain } from '../deliveries/retry-delivery.ts';
import type { Edit } from '../shared/verb.ts';

export const advanceReplaySql = {
  // Changes nothing but locks the row: on PostgreSQL another node may be at the same step.
  begin: 'update replay set n = n where id = ?1 returning *',
  // Each delivery goes to the present lane of its callback.
  done: `
    select callback.lane, delivery_done.callback, state, attempts, slice
    from delivery_done join callback on callback.no = delivery_done.callback
    where delivery_done.event = ?1 and n = ?2 and delivery_done.app = ?3 and ended_ms <= ?4`,
  end: `
    update replay set event = ?2, n = ?3, below_n = ?4, matched = matched + ?5 + ?6,
      replayed = replayed + ?5, skipped = skipped + ?6, next_ms = ?7, state = ?8, ended_ms = ?9
    where id = ?1 returning *`,
} as const;

export const advanceReplay: Edit<'advanceReplay'> = function* (input, nowMs, facts) {
  const step = yield* beginStep(input);
  if (step === undefined) return { kind: 'moved' };
  const { appNo, createdMs } = step.replay;
  let replayed = 0;
  for (const { event, n } of input.names) {
    const row = yield* first(advanceReplaySql.done, event, n, appNo, createdMs);
    if (row === undefined) continue; // It is pending again, or was deleted.
    const lane = yield* lockLane(integer(row, 'lane'));
    if (lane.state === 'ended') continue;
    const sent = yield* sendAgain({ event, n, appNo, row, lane }, nowMs, facts);
    if (sent !== undefined) replayed += 1;
  }
  return yield* endStep({ input, step, replayed }, nowMs);
};

export interface BegunStep {
  replay: Replay;
  /** Number of deliveries of the event at the end of the step, before the step adds any. */
  below: number;
}

/** Undefined: the replay no longer exists, or is not running. */
export function* beginStep({
  id,
  from,
  to,
  names,
}: EditInput<'advanceReplay'>): Script<BegunStep | undefined> {
  assert(names.length <= limits.replayStepMax, `Cannot replay ${names.length} in one step`);
  const row = yield* first(advanceReplaySql.begin, id);
  if (row === undefined) return undefined;
  const replay = toReplay(row);
  const { state, cursor } = replay;
  if (state !== 'running' || cursor.event !== from.event || cursor.n !== from.n) return undefined;
  if (to.event === from.event) return { replay, below: replay.cursor.below };
  return { replay, below: yield* madeOf(to.event) };
}

interface EndingStep {
  input: EditInput<'advanceReplay'>;
  step: BegunStep;
  replayed: number;
}

export function* endStep(
  { input, step, replayed }: EndingStep,
  nowMs: number,
): Script<{ kind: 'stepped'; replay: Replay }> {
  const { id, to, names, isLast } = input;
  const skipped = names.length - replayed;
  const row = yield* only(
    advanceReplaySql.end,
    id,
    to.event,
    to.n,
    step.below,
    replayed,
    skipped,
    nextStepMs(step.replay, nowMs, replayed),
    isLast ? 'done' : 'running',
    isLast ? nowMs : null,
  );
  return { kind: 'stepped', replay: toReplay(row) };
}
