// The part of the Store port for sessions of the console. It receives hashes of tokens, never a
// token.
import type { Session, SessionKind } from '../../core/domain/session.ts';

/** A key, and the hash of the secret of it that is meant. */
export type KeySecret = Pick<Session, 'keyId' | 'keyHash'>;

export interface SessionEdits {
  /** For the key with this id, which may not exist. */
  createSession: {
    input: { hash: Uint8Array; kind: SessionKind; expiresMs: number } & KeySecret;
    output: { kind: 'created' } | { kind: 'not_found' };
  };
  /**
   * Deletes a ticket that has not expired. If it is presented several times, only one call gets the
   * key.
   */
  takeTicket: {
    input: { hash: Uint8Array };
    output: ({ kind: 'taken' } & KeySecret) | { kind: 'not_found' };
  };
  /** Extends a session; never shortens one, nor revives one that has ended. */
  prolongSession: {
    input: { hash: Uint8Array; expiresMs: number };
    output: { kind: 'prolonged' };
  };
  endSession: { input: { hash: Uint8Array }; output: { kind: 'ended' } };
  /** Deletes tickets and sessions that expired earlier, at most `limit`. */
  forgetSessions: { input: { beforeMs: number; limit: number }; output: { deleted: number } };
}

export interface SessionReads {
  /** A session, not a ticket. The caller checks its expiry. */
  session: { input: { hash: Uint8Array }; output: Session | undefined };
  /** The oldest valid key of the app that may manage it. */
  adminKey: { input: { appNo: number; nowMs: number }; output: KeySecret | undefined };
}
