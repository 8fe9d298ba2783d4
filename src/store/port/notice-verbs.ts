// The part of the Store port for Ringback's own events. A notice is written in the transaction that
// causes it, and stays until it is published. Also the health of receivers, and the end of failing
// ones.
import type { Health } from '../../core/domain/health.ts';

/** An own event that has not been published yet. */
export interface WaitingNotice {
  no: number;
  appNo: number;
  name: string;
  payload: string;
}

export interface NoticeEdits {
  /**
   * Disables the subscription of a lane that has failed for too long (core/domain/lane.ts), unless another
   * of its receivers had a success since. Its deliveries stay pending.
   */
  disableFailing: {
    input: { appNo: number; lane: number };
    output:
      | { kind: 'disabled'; subscription: string }
      /** It works again, or another node was first. */
      | { kind: 'kept' };
  };
}

export interface NoticeReads {
  /** The oldest notices written by `writtenByMs`, at most `limit`. */
  notices: {
    input: { writtenByMs: number; limit: number };
    output: readonly WaitingNotice[];
  };
  /** The health of a subscription; an unknown one has no failures. */
  subscriptionHealth: { input: { appNo: number; id: string }; output: Health };
}
