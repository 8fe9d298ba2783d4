// The service itself: its contracts, statistics, nodes and health; its apps, their keys and their audit trail.
import type { Caller } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type {
  App,
  AuditEntry,
  CreateAppAnswer,
  CreateAppBody,
  CreateKeyBody,
  EditAppBody,
  Key,
  KeyOnce,
  ListAppsQuery,
  ListAuditEntriesQuery,
  ListKeysQuery,
} from './contract/access.ts';
import type {
  Contract,
  ContractReport,
  GetReadinessAnswer,
  GetStatsAnswer,
  GetStatsQuery,
  GetSubscriptionStatsAnswer,
  GetSubscriptionStatsQuery,
  Node,
  Status,
} from './contract/service.ts';
import type { RotateBody } from './contract/subscription.ts';
import { createListing, type Listing } from './listing.ts';

/** An OpenAPI document, unchanged. */
export type Document = Readonly<Record<string, unknown>>;

export interface ContractCalls {
  /** The contracts that the service executes: one page. */
  list(options?: CallOptions): Listing<Contract>;
  get(title: string, options?: CallOptions): Promise<Document>;
  /** What the contract does, what was repaired, and what cannot be executed, as in `ringback check`. */
  report(title: string, options?: CallOptions): Promise<ContractReport>;
}

export interface ServiceCalls {
  /** Statistics of the app, or of one subscription. */
  stats(filters?: GetStatsQuery, options?: CallOptions): Promise<GetStatsAnswer>;
  subscriptionStats(
    filters: GetSubscriptionStatsQuery,
    options?: CallOptions,
  ): Promise<GetSubscriptionStatsAnswer>;
  nodes(options?: CallOptions): Promise<readonly Node[]>;
  /** In the Prometheus text format. */
  metrics(options?: CallOptions): Promise<string>;
  /** Not retried: it reports the state at this moment. */
  health(options?: CallOptions): Promise<Status>;
  /** Not retried; a node that is not ready throws a RingbackError with status 503 and the reason. */
  readiness(options?: CallOptions): Promise<GetReadinessAnswer>;
  /** Ringback's own contract. */
  openapi(options?: CallOptions): Promise<Document>;
  openapiYaml(options?: CallOptions): Promise<string>;
}

export function contractCalls({ call }: Caller): ContractCalls {
  return {
    list: (options) =>
      createListing(async () => ({
        ...(await call('listContracts', {}, options)),
        nextCursor: null,
      })),
    get: async (title, options) => call('getContract', { path: { title } }, options),
    report: async (title, options) => call('getContractReport', { path: { title } }, options),
  };
}

export function serviceCalls({ call }: Caller): ServiceCalls {
  return {
    stats: async (query = {}, options = {}) => call('getStats', { query }, options),
    subscriptionStats: async (query, options) => call('getSubscriptionStats', { query }, options),
    nodes: async (options) => (await call('listNodes', {}, options)).items,
    metrics: async (options) => call('getMetrics', {}, options),
    health: async (options) => call('getHealth', {}, { retries: 0, ...options }),
    readiness: async (options) => call('getReadiness', {}, { retries: 0, ...options }),
    openapi: async (options) => call('getOpenapiJson', {}, options),
    openapiYaml: async (options) => call('getOpenapiYaml', {}, options),
  };
}

export interface KeyCalls {
  /** Newest first. */
  list(filters?: ListKeysQuery, options?: CallOptions): Listing<Key>;
  /** The secret is returned only here. Not retried if no response arrives. */
  create(input: CreateKeyBody, options?: CallOptions): Promise<KeyOnce>;
  get(id: string, options?: CallOptions): Promise<Key>;
  /** The new secret is returned only here. Not retried if no response arrives. */
  rotate(id: string, input?: RotateBody, options?: CallOptions): Promise<KeyOnce>;
  revoke(id: string, options?: CallOptions): Promise<void>;
}

export interface AppCalls {
  /** Newest first. */
  list(filters?: ListAppsQuery, options?: CallOptions): Listing<App>;
  /** Includes its first key, which is returned only here. Not retried if no response arrives. */
  create(input: CreateAppBody, options?: CallOptions): Promise<CreateAppAnswer>;
  get(id: string, options?: CallOptions): Promise<App>;
  edit(id: string, changes: EditAppBody, options?: CallOptions): Promise<App>;
}

export interface AuditCalls {
  /** Newest first. */
  list(filters?: ListAuditEntriesQuery, options?: CallOptions): Listing<AuditEntry>;
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

export function auditCalls({ call }: Caller): AuditCalls {
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listAuditEntries', { query: { ...filters, cursor } }, options),
      ),
  };
}
