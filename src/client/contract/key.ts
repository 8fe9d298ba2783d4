// Generated from openapi.yaml by `npm run docs`: the types of keys.

export interface ListKeysQuery {
  /** Items per page. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface Key {
  id: string;
  name: Name;
  scopes: Scopes;
  state: 'active' | 'expired' | 'revoked';
  createdAt: string;
  expiresAt?: string;
  revokedAt?: string;
  lastUsedAt?: string;
  /** During the overlap of a rotation - when the old key stops working. */
  oldValidUntil?: string;
}

export type Name = string;

export type Scopes = readonly ('subscribe' | 'publish' | 'read' | 'admin' | 'operator')[];

export interface CreateKeyBody {
  name: Name;
  scopes: Scopes;
  expiresAt?: string | undefined;
}

export interface KeyOnce extends Key {
  key: KeySecret;
}

export type KeySecret = string;
