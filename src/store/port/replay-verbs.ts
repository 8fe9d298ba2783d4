// The part of the Store port for replays: jobs that send ended deliveries again. A read finds the
// deliveries; the step that sends them is fenced by the cursor that the read started from.
import type { DeliveryName } from '../../core/domain/delivery.ts';
import type { Replay, ReplayCursor, ReplayFilter } from '../../core/domain/replay.ts';
import type { Audited } from '../../core/domain/audit.ts';
import type { Idempotency } from './delivery-verbs.ts';
import type { Page, PageInput } from './delivery-verbs.ts';

export interface NewReplay {
  id: string;
  appNo: number;
  filter: ReplayFilter;
  ratePerSecond: number;
}

export interface ReplayEdits {
  createReplay: {
    input: {
      replay: NewReplay;
      runningMax: number;
      idempotency: Idempotency | undefined;
    } & Audited;
    output:
      | { kind: 'created'; replay: Replay }
      /** The same request succeeded before, with this replay. */
      | { kind: 'repeated'; replay: Replay }
      | { kind: 'mismatch' }
      /** The app has too many running replays. */
      | { kind: 'too_many' };
  };
  /** Cancelling again changes nothing. */
  cancelReplay: {
    input: { appNo: number; id: string } & Audited;
    output:
      | { kind: 'cancelled'; replay: Replay; isRepeated: boolean }
      | { kind: 'done' }
      | { kind: 'not_found' };
  };
  /**
   * One step: sends these deliveries again, as `retryDelivery` does, and moves the cursor, all or
   * nothing. `moved`: the cursor has changed, or the replay has ended.
   */
  advanceReplay: {
    input: {
      id: string;
      from: DeliveryName;
      to: DeliveryName;
      /** In the order of the walk, at most `replayStepMax`. */
      names: readonly DeliveryName[];
      /** There is nothing after `to`. */
      isLast: boolean;
    };
    output: { kind: 'stepped'; replay: Replay } | { kind: 'moved' };
  };
  /** Deletes replays that ended before a time, at most `limit`. */
  forgetReplays: { input: { endedBeforeMs: number; limit: number }; output: { deleted: number } };
}

export interface ReplayReads {
  replay: { input: { appNo: number; id: string }; output: Replay | undefined };
  /** `customer`: only those of this customer. */
  replays: {
    input: { appNo: number; customer?: string | undefined; page: PageInput };
    output: Page<Replay>;
  };
  /** Running replays of any app, those first whose next step is due first. */
  runningReplays: { input: { limit: number }; output: readonly Replay[] };
  /**
   * The next matching deliveries of a walk over ended ones, oldest first. Examines a bounded number
   * of rows.
   */
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
  /** Deliveries that ended later are ignored. */
  endedByMs: number;
  after: ReplayCursor;
  lastEvent: string;
}

export interface Replayable {
  names: readonly DeliveryName[];
  /** The last delivery that was examined. */
  reached: DeliveryName;
  isLast: boolean;
}
