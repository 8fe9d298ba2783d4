// Generated from openapi.yaml by `npm run docs`: the types of the service itself, its contracts, nodes and statistics, and error responses.
import type { Customer, EventTypeState } from './event.ts';

export interface GetStatsQuery {
  /** Statistics of this subscription only. */
  subscriberId?: string | undefined;
  /**
   * Only deliveries to subscriptions of this customer; they count as published, too. With
   * `subscriberId`, the subscription must be of this customer.
   */
  customer?: Customer | undefined;
  /**
   * Time range up to now, in steps of 60, 60, 1,800 or 10,800 seconds. The last step is still
   * in progress. Default, if `from` is absent: 1h.
   */
  range?: '15m' | '1h' | '24h' | '7d' | undefined;
  /**
   * Start of the time range, instead of `range`. There are at most 120 steps of at least 60
   * seconds, which start at multiples of their length.
   */
  from?: string | undefined;
  /** End of the time range that starts with `from`. Default: now. */
  until?: string | undefined;
}

export interface GetStatsAnswer extends StatsSpan {
  steps: readonly StatsStep[];
  totals: StatsTotals;
  pending: Pending;
  pendingIsCapped: PendingIsCapped;
  /** When the event of the oldest delivery that has not ended was published. */
  oldestPendingAt: string | null;
  /**
   * Only in statistics of a customer: whether it has more than 200 subscriptions, of which the
   * older ones are not included.
   */
  subscriptionsAreCapped?: boolean;
  /**
   * Receivers and subscriptions of the app that need attention, worst first. Empty in
   * statistics of a subscription or a customer.
   */
  attention: readonly Attention[];
}

export interface StatsSpan {
  from: string;
  /** End of the last step, exclusive. */
  until: string;
  stepSeconds: number;
}

export interface StatsStep extends StatsCounts {
  /** Start of the step. */
  at: string;
}

export interface StatsCounts {
  /** Events accepted; for a subscription, deliveries created for it. */
  published: number;
  /** Deliveries delivered. */
  delivered: number;
  /** Failed attempts that are retried. */
  retried: number;
  /** Deliveries dead-lettered. */
  dead: number;
  /** Deliveries cancelled. */
  cancelled: number;
  /** Median duration of the attempts. Null if there were none. */
  p50Ms: number | null;
  /** 95th percentile. */
  p95Ms: number | null;
}

export interface StatsTotals extends StatsCounts {
  /** Share of attempts that succeeded. Null if there were none. */
  successRate: number | null;
}

/** Deliveries that are due or running now. */
export type Pending = number;

/** The count is a lower bound; counting stopped there. */
export type PendingIsCapped = boolean;

export interface Attention {
  /** A failing receiver, or a disabled subscription. */
  kind: 'failing' | 'disabled';
  subscriberId: string;
  /** Empty if there is no target. */
  url: string;
  since: string | null;
  /** Consecutive failed attempts. */
  failures: number;
  /** Error of the last attempt. */
  error?: string;
  /** Status of the last attempt. */
  status?: number;
}

export interface GetSubscriptionStatsQuery {
  /** Subscription ids, separated by commas. Unknown ones are omitted from the response. */
  subscriberIds: readonly string[];
  /**
   * Time range up to now, in steps of 60, 60, 1,800 or 10,800 seconds. The last step is still
   * in progress. Default, if `from` is absent: 1h.
   */
  range?: '15m' | '1h' | '24h' | '7d' | undefined;
  /**
   * Start of the time range, instead of `range`. There are at most 120 steps of at least 60
   * seconds, which start at multiples of their length.
   */
  from?: string | undefined;
  /** End of the time range that starts with `from`. Default: now. */
  until?: string | undefined;
}

export interface GetSubscriptionStatsAnswer extends StatsSpan {
  items: readonly SubscriptionStats[];
}

export interface SubscriptionStats {
  subscriberId: string;
  /** Deliveries per step. */
  delivered: readonly number[];
  /** Failed attempts per step. */
  failed: readonly number[];
  totals: StatsTotals;
  pending: Pending;
  pendingIsCapped: PendingIsCapped;
}

export interface ListNodesAnswer {
  items: readonly Node[];
}

export interface Node {
  name: NodeName;
  role: NodeRole;
  version: string;
  startedAt: string;
  lastSeenAt: string;
  /** True for the node that responds. */
  self: boolean;
}

export type NodeName = string;

/** What the node does - serve requests, deliver, or both. */
export type NodeRole = 'api' | 'worker' | 'all';

export interface Status {
  status: 'ok';
}

export interface GetReadinessAnswer {
  status: 'ok';
  node: NodeName;
  role: NodeRole;
}

export interface ListContractsAnswer {
  items: readonly Contract[];
}

export interface Contract {
  title: string;
  version?: string;
  /**
   * Number of repairs, ignored parts and callbacks that cannot be executed. The report lists
   * them.
   */
  warnings: number;
  operations: readonly {
    operationId: string;
    method: string;
    path: string;
    does: 'subscribe' | 'unsubscribe';
  }[];
}

export interface ContractReport {
  title: string;
  /** Who answers the operations. */
  owner: 'ringback' | 'api';
  version: string;
  /** OpenAPI version of the document. */
  openapi: string;
  /** Operations with callbacks. */
  subscribes: readonly {
    operationId: string;
    method: string;
    path: string;
    /** Ways to send the key. */
    security: string;
    /** Scope that the key needs. */
    scope?: string;
    /**
     * Statuses of errors that the operation can return and does not declare. Their body is
     * `application/problem+json`.
     */
    undeclared?: readonly number[];
    /** Statuses by which the API accepts the request. Absent if Ringback answers it. */
    accepts?: string;
    /** What its subscriptions are about. Absent if they have no subject. */
    subject?: string;
    /** The part of the request that says whose its subscriptions are. Absent if none does. */
    customer?: string;
    /** What ends its subscriptions, besides their receivers. */
    ends: readonly string[];
    variants: readonly VariantReport[];
  }[];
  unsubscribes: readonly {
    operationId: string;
    method: string;
    path: string;
    security: string;
    scope?: string;
    /** Location of the subscriber id. */
    takes: string;
    /** Absent if an API answers. */
    status?: number;
    undeclared?: readonly number[];
  }[];
  /** Number of other operations. */
  otherOperations?: number;
  /** Events that can be published and are matched by a callback. */
  events: readonly {
    /** Event name or pattern or template. */
    event: string;
    /** An event name that matches. */
    name: string;
    callbacks: readonly string[];
    /** A payload that all of these callbacks accept, or why there is none. */
    payload: Readonly<Record<string, unknown>>;
  }[];
  /** Webhooks of the document. Their subscribers use `POST /subscribe`. */
  webhooks: readonly {
    event: string;
    description?: string;
    state: EventTypeState;
    /** A payload that matches, or why there is none. */
    payload: Readonly<Record<string, unknown>>;
  }[];
  warnings: readonly {
    kind: 'repair' | 'warning';
    /** Set if it is another file. */
    file?: string;
    pointer: string;
    message: string;
  }[];
  cannotRun: readonly string[];
}

export interface VariantReport {
  /** Empty if there are no variants. */
  name: string;
  needs: readonly string[];
  /** At least one is required. */
  needsAny: readonly string[];
  /** Absent if an API answers. */
  status?: number;
  callbacks: readonly {
    label: string;
    /** After repairs; absent if unreadable. */
    key?: string;
    method: string;
    event: string;
    does: string;
    matches: string;
    reads: readonly {
      expression: string;
      place: string;
    }[];
    /** Parameters and credentials that the document adds to the callback. */
    sends: readonly {
      in: 'query' | 'header' | 'cookie';
      name: string;
      /** Where the value comes from. */
      value: string;
      isCredential: boolean;
    }[];
    repairs: readonly string[];
    unsubscribeStatus: number;
    /** Once it is delivered or dead, the subscription ends. */
    isFinal: boolean;
    /** Why it is never sent. */
    inactive?: string;
  }[];
  /** A request that registers these callbacks (`sample`), or why there is none. */
  example: {
    kind: 'sample' | 'none';
    method?: string;
    /** Path and query, as sent. */
    target?: string;
    headers?: Readonly<Record<string, string>>;
    body?: string;
    why?: string;
  };
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  /** Stable; see docs/errors.md. */
  code: string;
  detail: string;
  requestId: string;
  errors?: readonly {
    field: string;
    message: string;
  }[];
}
