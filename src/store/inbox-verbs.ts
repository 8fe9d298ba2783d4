// The part of the Store port for events that were published by SQL, inside somebody's own transaction.
// They wait in an inbox until a node has checked them; SQLite has no such door, so its inbox is empty.
import type { Quotas } from '../core/quotas.ts';

/** An event as it was handed in; nobody has looked at it yet. */
export interface InboxEntry {
  no: number;
  /** The event's id, which the caller was told. */
  id: string;
  appNo: number;
  /** The app's own. */
  quotas: Quotas;
  name: string;
  payload: Uint8Array;
}

export interface InboxEdits {
  /**
   * The oldest entries, at most `limit`, for this node alone for `forMs`; then they may be taken again.
   */
  takeInbox: {
    input: { limit: number; forMs: number };
    output: { entries: readonly InboxEntry[] };
  };
  /**
   * Keeps an entry as an event that was rejected, without deliveries, for people to see.
   * `taken`: somebody else has dealt with it.
   */
  rejectInbox: {
    input: { no: number; reason: string };
    output: { kind: 'rejected' | 'taken' };
  };
}
