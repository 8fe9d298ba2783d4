// The service itself: its contracts, statistics, nodes and health.
import type { Caller } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type { Node } from './contract/node.ts';
import type { Contract, ContractReport, GetReadinessAnswer, Status } from './contract/service.ts';
import type {
  GetStatsAnswer,
  GetStatsQuery,
  GetSubscriptionStatsAnswer,
  GetSubscriptionStatsQuery,
} from './contract/stats.ts';
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
