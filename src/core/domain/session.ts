// A session of the console: who signed in, and until when. Only the browser keeps the token; the
// service and the store keep its SHA-256.
import { hashKey } from './key.ts';
import type { World } from '../base/world.ts';

/** A ticket belongs to a one-time link: it can be exchanged for a session once. */
export type SessionKind = 'ticket' | 'session';

export interface Session {
  /** Hash of the token. */
  hash: Uint8Array;
  /** The session has the permissions of this key. */
  keyId: string;
  /**
   * Hash of the key's secret that the session began with: it lasts while the key admits that
   * secret.
   */
  keyHash: Uint8Array;
  createdMs: number;
  expiresMs: number;
}

export interface Token {
  token: string;
  hash: Uint8Array;
}

const tokenBytes = 32;
const shape = /^[\w-]{43}$/u;

export function makeToken(world: Pick<World, 'randomBytes'>): Token {
  const token = Buffer.from(world.randomBytes(tokenBytes)).toString('base64url');
  return { token, hash: hashKey(token) };
}

/** Undefined when the text cannot be a token. */
export function hashToken(presented: string): Uint8Array | undefined {
  return shape.test(presented) ? hashKey(presented) : undefined;
}
