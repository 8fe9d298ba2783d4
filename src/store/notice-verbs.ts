// The part of the Store port for Ringback's own events: notices are written in the transaction of what
// they tell, and wait here until they are published. Also how receivers do, and when one is given up.
import type { Health } from '../core/health.ts';

/** An own event that is yet to be published. */
export interface WaitingNotice {
  no: number;
  appNo: number;
  name: string;
  payload: string;
}

export interface NoticeEdits {
  /**
   * Disables the subscription of a lane that has failed for so long (core/lane.ts), unless another of its
   * receivers has had something since. Its deliveries wait.
   */
  disableFailing: {
    input: { appNo: number; lane: number };
    output:
      | { kind: 'disabled'; subscription: string }
      /** It works again, or somebody else was faster. */
      | { kind: 'kept' };
  };
}

export interface NoticeReads {
  /** The oldest ones of those that were written by `writtenByMs`, at most `limit`. */
  notices: {
    input: { writtenByMs: number; limit: number };
    output: readonly WaitingNotice[];
  };
  /** Of a subscription; of one that is unknown nothing is known to fail. */
  subscriptionHealth: { input: { appNo: number; id: string }; output: Health };
}
