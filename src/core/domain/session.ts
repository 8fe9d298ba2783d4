// A session of the console or of a customer's portal: who signed in, and until when. Only the browser keeps the token;
// the service and the store keep its SHA-256.
import { hashKey, type Key, type Scope } from './key.ts';
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
  /** Set for a session of the portal, or a link to it. */
  portal: PortalGrant | undefined;
}

/** What the holder of a portal link may do, and how the portal looks. */
export interface PortalGrant {
  customer: string;
  can: readonly Ability[];
  theme: Theme;
  /** Undefined: the language of the browser. */
  language: Language | undefined;
  /** The end of the session, and of the link if it is not opened before. */
  untilMs: number;
}

export const abilities = ['view', 'retry', 'manage'] as const;
export type Ability = (typeof abilities)[number];
export const themes = ['light', 'dark', 'system'] as const;
export type Theme = (typeof themes)[number];
export const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

const scopeOfAbility: Readonly<Record<Ability, Scope>> = {
  view: 'read',
  retry: 'retry',
  manage: 'subscribe',
};

export function scopesOf(can: readonly Ability[]): readonly Scope[] {
  return can.map((ability) => scopeOfAbility[ability]);
}

/** The key as a session uses it: in a portal it is bound to the customer. */
export function keyInSession(key: Key, { portal }: Pick<Session, 'portal'>): Key {
  if (portal === undefined) return key;
  return { ...key, customer: portal.customer, scopes: scopesOf(portal.can) };
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
