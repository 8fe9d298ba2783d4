// The part of the Store port that replays: jobs that send ended deliveries again. What is to be sent is
// looked for by a read; the step that sends it is fenced by the cursor that the read went out from.
import type { DeliveryName } from '../core/delivery.ts';
import type { Replay, ReplayCursor, ReplayFilter } from '../core/replay.ts';
import type { Idempotency } from './idempotency.ts';
import type { Page, PageInput } from './page.ts';

export interface NewReplay {
  id: string;
  appNo: number;
  filter: ReplayFilter;
  ratePerSecond: number;
}

export interface ReplayEdits {
  createReplay: {
    input: { replay: NewReplay; runningMax: number; idempotency: Idempotency | undefined };
    output:
      | { kind: 'created'; replay: Replay }
      /** The same request was answered before, with this one. */
      | { kind: 'repeated'; replay: Replay }
      | { kind: 'mismatch' }
      /** So many of the app run already. */
      | { kind: 'too_many' };
  };
  /** Cancelling again changes nothing. */
  cancelReplay: {
    input: { appNo: number; id: string };
    output: { kind: 'cancelled'; replay: Replay } | { kind: 'done' } | { kind: 'not_found' };
  };
  /**
   * One step: sends these deliveries again, as `retryDelivery` does, and moves the cursor on, all or
   * nothing. `moved`: the cursor is not where it was any more, or the replay has ended.
   */
  advanceReplay: {
    input: {
      id: string;
      from: DeliveryName;
      to: DeliveryName;
      /** In the order of the walk, at most `replayStepMax`. */
      names: readonly DeliveryName[];
      /** Behind `to` there is nothing. */
      isLast: boolean;
    };
    output: { kind: 'stepped'; replay: Replay } | { kind: 'moved' };
  };
  /** Deletes replays that ended before a time: at most `limit`. */
  forgetReplays: { input: { endedBeforeMs: number; limit: number }; output: { deleted: number } };
}

export interface ReplayReads {
  replay: { input: { appNo: number; id: string }; output: Replay | undefined };
  replays: { input: { appNo: number; page: PageInput }; output: Page<Replay> };
  /** Running ones of any app, those first whose next step is due first. */
  runningReplays: { input: { limit: number }; output: readonly Replay[] };
  /** What a walk over ended deliveries finds next, oldest first. It looks at so many rows at most. */
  replayable: { input: ReplayWalk & { limit: number }; output: Replayable };
  /** Where such a walk begins and ends; undefined when there is nothing. */
  replayRange: { input: ReplayScope; output: ReplayRange | undefined };
}

export interface ReplayScope {
  appNo: number;
  filter: ReplayFilter;
}

export interface ReplayRange {
  firstEvent: string;
  lastEvent: string;
}

export interface ReplayWalk extends ReplayScope {
  /** What ended later is left alone. */
  endedByMs: number;
  after: ReplayCursor;
  lastEvent: string;
}

export interface Replayable {
  names: readonly DeliveryName[];
  /** The last one that was looked at. */
  reached: DeliveryName;
  isLast: boolean;
}
