// The part of the Store port that knows who is signed in to the console. It is given hashes of tokens,
// never a token.
import type { Session, SessionKind } from '../core/session.ts';

/** A key, and the hash of the one of its secrets that is meant. */
export type KeySecret = Pick<Session, 'keyId' | 'keyHash'>;

export interface SessionEdits {
  /** For the key with this id; there may be none. */
  createSession: {
    input: { hash: Uint8Array; kind: SessionKind; expiresMs: number } & KeySecret;
    output: { kind: 'created' } | { kind: 'not_found' };
  };
  /** Deletes a ticket that has not expired: of all who come with it, one gets the key. */
  takeTicket: {
    input: { hash: Uint8Array };
    output: ({ kind: 'taken' } & KeySecret) | { kind: 'not_found' };
  };
  /** A session that has ended meanwhile stays so. Never shortens one. */
  prolongSession: {
    input: { hash: Uint8Array; expiresMs: number };
    output: { kind: 'prolonged' };
  };
  endSession: { input: { hash: Uint8Array }; output: { kind: 'ended' } };
  /** Deletes tickets and sessions that expired before: at most `limit`. */
  forgetSessions: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
}

export interface SessionReads {
  /** A session, not a ticket. Whether it has expired is not decided here. */
  session: { input: { hash: Uint8Array }; output: Session | undefined };
  /** The oldest key of the app that may manage it and opens the door at this time. */
  adminKey: { input: { appNo: number; nowMs: number }; output: KeySecret | undefined };
}
