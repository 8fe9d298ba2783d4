// The part of the Store port for events published by SQL, inside a client's own transaction. They
// stay in an inbox until a node has validated them. SQLite does not offer this, so its inbox is
// always empty.
import type { Quotas } from '../../core/load/quotas.ts';

/** An event as it was inserted, not validated yet. */
export interface InboxEntry {
  no: number;
  /** The event's id, which the publisher already has. */
  id: string;
  appNo: number;
  /** Quotas of the app itself. */
  quotas: Quotas;
  name: string;
  payload: Uint8Array;
}

export interface InboxEdits {
  /**
   * The oldest entries, at most `limit`. They are reserved for this node for `forMs`; then they may
   * be taken again.
   */
  takeInbox: {
    input: { limit: number; forMs: number };
    output: { entries: readonly InboxEntry[] };
  };
  /**
   * Stores an entry as a rejected event, without deliveries, so that it can be inspected. `taken`:
   * another node has already processed it.
   */
  rejectInbox: {
    input: { no: number; reason: string };
    output: { kind: 'rejected' | 'taken' };
  };
}
