// Keys of an app, and apps.
import type { Caller } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type {
  App,
  CreateAppAnswer,
  CreateAppBody,
  EditAppBody,
  ListAppsQuery,
} from './contract/app.ts';
import type { CreateKeyBody, Key, KeyOnce, ListKeysQuery } from './contract/key.ts';
import type { RotateBody } from './contract/subscription.ts';
import { createListing, type Listing } from './listing.ts';

export interface KeyCalls {
  /** Newest first. */
  list(filters?: ListKeysQuery, options?: CallOptions): Listing<Key>;
  /** The secret is returned only here. Not retried if no response arrives. */
  create(wish: CreateKeyBody, options?: CallOptions): Promise<KeyOnce>;
  get(id: string, options?: CallOptions): Promise<Key>;
  /** The new secret is returned only here. Not retried if no response arrives. */
  rotate(id: string, wish?: RotateBody, options?: CallOptions): Promise<KeyOnce>;
  revoke(id: string, options?: CallOptions): Promise<void>;
}

export interface AppCalls {
  /** Newest first. */
  list(filters?: ListAppsQuery, options?: CallOptions): Listing<App>;
  /** Includes its first key, which is returned only here. Not retried if no response arrives. */
  create(wish: CreateAppBody, options?: CallOptions): Promise<CreateAppAnswer>;
  get(id: string, options?: CallOptions): Promise<App>;
  edit(id: string, changes: EditAppBody, options?: CallOptions): Promise<App>;
}

export function keyCalls({ call }: Caller): KeyCalls {
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listKeys', { query: { ...filters, cursor } }, options),
      ),
    create: async (body, options) => call('createKey', { body }, options),
    get: async (id, options) => call('getKey', { path: { id } }, options),
    rotate: async (id, body = {}, options = {}) =>
      call('rotateKey', { path: { id }, body }, options),
    revoke: async (id, options) => call('revokeKey', { path: { id } }, options),
  };
}

export function appCalls({ call }: Caller): AppCalls {
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listApps', { query: { ...filters, cursor } }, options),
      ),
    create: async (body, options) => call('createApp', { body }, options),
    get: async (id, options) => call('getApp', { path: { id } }, options),
    edit: async (id, body, options) => call('editApp', { path: { id }, body }, options),
  };
}
