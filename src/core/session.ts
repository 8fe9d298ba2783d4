// A session of the console: who signed in, and until when. Its token is a secret that only the browser
// keeps; here and in the store there is its SHA-256.
import { hashKey } from './key.ts';
import type { World } from './world.ts';

/** A ticket is the one-time link's: it makes a session, once. */
export type SessionKind = 'ticket' | 'session';

export interface Session {
  /** Of the token. */
  hash: Uint8Array;
  /** What the session may do is what this key may do. */
  keyId: string;
  /** Of the secret of that key with which it began: it goes on while the key admits that. */
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

/** Undefined for what cannot be a token. */
export function hashToken(presented: string): Uint8Array | undefined {
  return shape.test(presented) ? hashKey(presented) : undefined;
}
