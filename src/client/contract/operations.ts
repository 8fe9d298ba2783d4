// Generated from openapi.yaml by `npm run docs`: the path of each operation and whether it may be retried,
// the members of its response, its parameters and types.
import type {
  ListEventsQuery,
  Event,
  PublishEventBody,
  Accepted,
  PublishEventsBody,
  PublishEventsAnswer,
  GetEventAnswer,
  ListEventTypesAnswer,
  EventType,
  PutEventTypeBody,
} from './event.ts';
import type {
  SubscribeOperationQuery,
  SubscribeOperationBody,
  Subscribed,
  UnsubscribeOperationQuery,
  UnsubscribeOperationAnswer,
  ListSubscriptionsQuery,
  Subscription,
  ListCustomersQuery,
  CustomerSummary,
  EditSubscriptionBody,
  Secret,
  RotateBody,
  RegisterExchangeBody,
  RegisterExchange200,
  RegisterExchange201,
} from './subscription.ts';
import type {
  ListDeliveriesQuery,
  Delivery,
  GetDeliveryAnswer,
  RetryDeliveryAnswer,
  ListReplaysQuery,
  Replay,
  CreateReplayBody,
  CreateReplay200,
} from './delivery.ts';
import type {
  ListKeysQuery,
  Key,
  CreateKeyBody,
  KeyOnce,
  ListAuditEntriesQuery,
  AuditEntry,
  ListAppsQuery,
  App,
  CreateAppBody,
  CreateAppAnswer,
  EditAppBody,
  CreatePortalLinkBody,
  CreatePortalLinkAnswer,
} from './access.ts';
import type {
  GetStatsQuery,
  GetStatsAnswer,
  GetSubscriptionStatsQuery,
  GetSubscriptionStatsAnswer,
  ListNodesAnswer,
  Status,
  GetReadinessAnswer,
  ListContractsAnswer,
  ContractReport,
} from './service.ts';
import type { Page } from '../listing.ts';

export interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service's URL. */
  path: string;
  /**
   * `free`: idempotent. `keyed`: idempotent with an Idempotency-Key.
   * `once`: must not be sent again if it may have arrived.
   */
  repeat: 'free' | 'keyed' | 'once';
  answer: 'json' | 'text' | 'nothing' | 'stream';
  /** Parameters whose list is sent comma-separated; other lists repeat the name. */
  joined?: readonly string[];
}

export const operations = {
  /** Subscribe a callback URL. */
  subscribeOperation: { method: 'POST', path: '/subscribe', repeat: 'keyed', answer: 'json' },
  /** End a subscription. */
  unsubscribeOperation: { method: 'POST', path: '/unsubscribe', repeat: 'free', answer: 'json' },
  /** List subscriptions, newest first. */
  listSubscriptions: { method: 'GET', path: '/subscriptions', repeat: 'free', answer: 'json' },
  /** List customers, by name. */
  listCustomers: { method: 'GET', path: '/customers', repeat: 'free', answer: 'json' },
  /** Show a subscription. */
  getSubscription: { method: 'GET', path: '/subscriptions/{id}', repeat: 'free', answer: 'json' },
  /** Update a subscription. */
  editSubscription: {
    method: 'PATCH',
    path: '/subscriptions/{id}',
    repeat: 'free',
    answer: 'json',
  },
  /** End a subscription. */
  deleteSubscription: {
    method: 'DELETE',
    path: '/subscriptions/{id}',
    repeat: 'free',
    answer: 'nothing',
  },
  /** Confirm a subscription. */
  confirmSubscription: {
    method: 'POST',
    path: '/subscriptions/{id}/confirm',
    repeat: 'free',
    answer: 'json',
  },
  /** Show the signing secret. */
  getSecret: { method: 'GET', path: '/subscriptions/{id}/secret', repeat: 'free', answer: 'json' },
  /** Rotate the signing secret. */
  rotateSecret: {
    method: 'POST',
    path: '/subscriptions/{id}/secret/rotate',
    repeat: 'once',
    answer: 'json',
  },
  /** Send a test event. */
  pingSubscription: {
    method: 'POST',
    path: '/subscriptions/{id}/ping',
    repeat: 'once',
    answer: 'json',
  },
  /** Register a request that your API has answered. */
  registerExchange: { method: 'POST', path: '/exchanges', repeat: 'keyed', answer: 'json' },
  /** List events, newest first. */
  listEvents: { method: 'GET', path: '/events', repeat: 'free', answer: 'json' },
  /** Publish an event. */
  publishEvent: { method: 'POST', path: '/events', repeat: 'keyed', answer: 'json' },
  /** Publish up to 1,000 events, all or nothing. */
  publishEvents: { method: 'POST', path: '/events/batch', repeat: 'keyed', answer: 'json' },
  /** Show an event with its payload. */
  getEvent: { method: 'GET', path: '/events/{id}', repeat: 'free', answer: 'json' },
  /** List publishable events. */
  listEventTypes: { method: 'GET', path: '/event-types', repeat: 'free', answer: 'json' },
  /** Show an event type. */
  getEventType: { method: 'GET', path: '/event-types/{name}', repeat: 'free', answer: 'json' },
  /** Declare an event type. */
  putEventType: { method: 'PUT', path: '/event-types/{name}', repeat: 'free', answer: 'json' },
  /** Delete an event type. */
  deleteEventType: {
    method: 'DELETE',
    path: '/event-types/{name}',
    repeat: 'free',
    answer: 'nothing',
  },
  /** List deliveries, newest first. */
  listDeliveries: { method: 'GET', path: '/deliveries', repeat: 'free', answer: 'json' },
  /** Show a delivery with its attempts. */
  getDelivery: { method: 'GET', path: '/deliveries/{id}', repeat: 'free', answer: 'json' },
  /** Send a delivery again. */
  retryDelivery: { method: 'POST', path: '/deliveries/{id}/retry', repeat: 'once', answer: 'json' },
  /** List replays, newest first. */
  listReplays: { method: 'GET', path: '/replays', repeat: 'free', answer: 'json' },
  /** Send many deliveries again. */
  createReplay: { method: 'POST', path: '/replays', repeat: 'keyed', answer: 'json' },
  /** Show the progress of a replay. */
  getReplay: { method: 'GET', path: '/replays/{id}', repeat: 'free', answer: 'json' },
  /** Cancel a replay. */
  cancelReplay: { method: 'POST', path: '/replays/{id}/cancel', repeat: 'free', answer: 'json' },
  /** Show statistics over time. */
  getStats: { method: 'GET', path: '/stats', repeat: 'free', answer: 'json' },
  /** Show brief statistics of several subscriptions. */
  getSubscriptionStats: {
    method: 'GET',
    path: '/stats/subscriptions',
    repeat: 'free',
    answer: 'json',
    joined: ['subscriberIds'],
  },
  /** Stream changes as they happen. */
  openStream: { method: 'GET', path: '/stream', repeat: 'free', answer: 'stream' },
  /** List the keys of your app, newest first. */
  listKeys: { method: 'GET', path: '/keys', repeat: 'free', answer: 'json' },
  /** Create a key for your app. */
  createKey: { method: 'POST', path: '/keys', repeat: 'once', answer: 'json' },
  /** Show a key. */
  getKey: { method: 'GET', path: '/keys/{id}', repeat: 'free', answer: 'json' },
  /** Revoke a key. */
  revokeKey: { method: 'DELETE', path: '/keys/{id}', repeat: 'free', answer: 'nothing' },
  /** Rotate a key. */
  rotateKey: { method: 'POST', path: '/keys/{id}/rotate', repeat: 'once', answer: 'json' },
  /** List the audit trail, newest first. */
  listAuditEntries: { method: 'GET', path: '/audit', repeat: 'free', answer: 'json' },
  /** List apps, newest first. */
  listApps: { method: 'GET', path: '/apps', repeat: 'free', answer: 'json' },
  /** Create an app and its first key. */
  createApp: { method: 'POST', path: '/apps', repeat: 'once', answer: 'json' },
  /** Show an app. */
  getApp: { method: 'GET', path: '/apps/{id}', repeat: 'free', answer: 'json' },
  /** Rename an app, or set its quotas. */
  editApp: { method: 'PATCH', path: '/apps/{id}', repeat: 'free', answer: 'json' },
  /** List live nodes. */
  listNodes: { method: 'GET', path: '/nodes', repeat: 'free', answer: 'json' },
  /** Metrics for Prometheus. */
  getMetrics: { method: 'GET', path: '/metrics', repeat: 'free', answer: 'text' },
  /** Check that the process is running. */
  getHealth: { method: 'GET', path: '/healthz', repeat: 'free', answer: 'json' },
  /** Check that the node is ready. */
  getReadiness: { method: 'GET', path: '/readyz', repeat: 'free', answer: 'json' },
  /** Get this document as JSON. */
  getOpenapiJson: { method: 'GET', path: '/openapi.json', repeat: 'free', answer: 'json' },
  /** Get this document as YAML. */
  getOpenapiYaml: { method: 'GET', path: '/openapi.yaml', repeat: 'free', answer: 'text' },
  /** List the contracts that this service executes. */
  listContracts: { method: 'GET', path: '/contracts', repeat: 'free', answer: 'json' },
  /** Get a contract as executed. */
  getContract: { method: 'GET', path: '/contracts/{title}', repeat: 'free', answer: 'json' },
  /** Report what a contract does. */
  getContractReport: {
    method: 'GET',
    path: '/contracts/{title}/report',
    repeat: 'free',
    answer: 'json',
  },
  /** Create a link to the portal of a customer. */
  createPortalLink: { method: 'POST', path: '/portal-links', repeat: 'once', answer: 'json' },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof operations;

/** The members that each JSON response has. A response without one of them is not Ringback's. */
export const members: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  subscribeOperation: ['subscriberId', 'secret'],
  unsubscribeOperation: ['subscriberId'],
  listSubscriptions: ['items', 'nextCursor'],
  listCustomers: ['items', 'nextCursor'],
  getSubscription: ['id', 'state', 'contract', 'operation', 'callbacks', 'ordered', 'createdAt'],
  editSubscription: ['id', 'state', 'contract', 'operation', 'callbacks', 'ordered', 'createdAt'],
  confirmSubscription: [
    'id',
    'state',
    'contract',
    'operation',
    'callbacks',
    'ordered',
    'createdAt',
  ],
  getSecret: ['secret'],
  rotateSecret: ['secret'],
  pingSubscription: ['eventId', 'deliveries'],
  registerExchange: ['registered'],
  listEvents: ['items', 'nextCursor'],
  publishEvent: ['eventId', 'deliveries'],
  publishEvents: ['items'],
  getEvent: ['id', 'event', 'deliveries', 'createdAt', 'payload'],
  listEventTypes: ['items', 'own'],
  getEventType: ['event', 'schema', 'state', 'version', 'createdAt', 'updatedAt'],
  putEventType: ['event', 'schema', 'state', 'version', 'createdAt', 'updatedAt'],
  listDeliveries: ['items', 'nextCursor'],
  getDelivery: [
    'id',
    'state',
    'event',
    'eventId',
    'subscriberId',
    'callback',
    'attemptCount',
    'createdAt',
    'attempts',
  ],
  retryDelivery: ['id'],
  listReplays: ['items', 'nextCursor'],
  createReplay: ['matched'],
  getReplay: [
    'id',
    'state',
    'filter',
    'ratePerSecond',
    'matched',
    'replayed',
    'skipped',
    'progress',
    'createdAt',
  ],
  cancelReplay: [
    'id',
    'state',
    'filter',
    'ratePerSecond',
    'matched',
    'replayed',
    'skipped',
    'progress',
    'createdAt',
  ],
  getStats: [
    'from',
    'until',
    'stepSeconds',
    'steps',
    'totals',
    'pending',
    'pendingIsCapped',
    'oldestPendingAt',
    'attention',
  ],
  getSubscriptionStats: ['from', 'until', 'stepSeconds', 'items'],
  listKeys: ['items', 'nextCursor'],
  createKey: ['id', 'name', 'scopes', 'state', 'createdAt', 'key'],
  getKey: ['id', 'name', 'scopes', 'state', 'createdAt'],
  rotateKey: ['id', 'name', 'scopes', 'state', 'createdAt', 'key'],
  listAuditEntries: ['items', 'nextCursor'],
  listApps: ['items', 'nextCursor'],
  createApp: ['id', 'name', 'createdAt', 'subscriptions', 'quotas', 'key'],
  getApp: ['id', 'name', 'createdAt', 'subscriptions', 'quotas'],
  editApp: ['id', 'name', 'createdAt', 'subscriptions', 'quotas'],
  listNodes: ['items'],
  getHealth: ['status'],
  getReadiness: ['status', 'node', 'role'],
  listContracts: ['items'],
  getContractReport: [
    'title',
    'owner',
    'version',
    'openapi',
    'subscribes',
    'unsubscribes',
    'events',
    'webhooks',
    'warnings',
    'cannotRun',
  ],
  createPortalLink: ['url', 'customer', 'can', 'expiresAt'],
};

/** Parameters and responses of each operation. */
export interface Calls {
  subscribeOperation: {
    request: { query?: SubscribeOperationQuery; body?: SubscribeOperationBody };
    answer: Subscribed;
  };
  unsubscribeOperation: {
    request: { query: UnsubscribeOperationQuery };
    answer: UnsubscribeOperationAnswer;
  };
  listSubscriptions: { request: { query?: ListSubscriptionsQuery }; answer: Page<Subscription> };
  listCustomers: { request: { query?: ListCustomersQuery }; answer: Page<CustomerSummary> };
  getSubscription: { request: { path: { id: string } }; answer: Subscription };
  editSubscription: {
    request: { path: { id: string }; body: EditSubscriptionBody };
    answer: Subscription;
  };
  deleteSubscription: { request: { path: { id: string } }; answer: undefined };
  confirmSubscription: { request: { path: { id: string } }; answer: Subscription };
  getSecret: { request: { path: { id: string } }; answer: Secret };
  rotateSecret: { request: { path: { id: string }; body?: RotateBody }; answer: Secret };
  pingSubscription: { request: { path: { id: string } }; answer: Accepted };
  registerExchange: {
    request: { body: RegisterExchangeBody };
    answer: RegisterExchange200 | RegisterExchange201;
  };
  listEvents: { request: { query?: ListEventsQuery }; answer: Page<Event> };
  publishEvent: { request: { body: PublishEventBody }; answer: Accepted };
  publishEvents: { request: { body: PublishEventsBody }; answer: PublishEventsAnswer };
  getEvent: { request: { path: { id: string } }; answer: GetEventAnswer };
  listEventTypes: { request: Record<never, never>; answer: ListEventTypesAnswer };
  getEventType: { request: { path: { name: string } }; answer: EventType };
  putEventType: { request: { path: { name: string }; body: PutEventTypeBody }; answer: EventType };
  deleteEventType: { request: { path: { name: string } }; answer: undefined };
  listDeliveries: { request: { query?: ListDeliveriesQuery }; answer: Page<Delivery> };
  getDelivery: { request: { path: { id: string } }; answer: GetDeliveryAnswer };
  retryDelivery: { request: { path: { id: string } }; answer: RetryDeliveryAnswer };
  listReplays: { request: { query?: ListReplaysQuery }; answer: Page<Replay> };
  createReplay: { request: { body: CreateReplayBody }; answer: CreateReplay200 | Replay };
  getReplay: { request: { path: { id: string } }; answer: Replay };
  cancelReplay: { request: { path: { id: string } }; answer: Replay };
  getStats: { request: { query?: GetStatsQuery }; answer: GetStatsAnswer };
  getSubscriptionStats: {
    request: { query: GetSubscriptionStatsQuery };
    answer: GetSubscriptionStatsAnswer;
  };
  openStream: { request: Record<never, never>; answer: never };
  listKeys: { request: { query?: ListKeysQuery }; answer: Page<Key> };
  createKey: { request: { body: CreateKeyBody }; answer: KeyOnce };
  getKey: { request: { path: { id: string } }; answer: Key };
  revokeKey: { request: { path: { id: string } }; answer: undefined };
  rotateKey: { request: { path: { id: string }; body?: RotateBody }; answer: KeyOnce };
  listAuditEntries: { request: { query?: ListAuditEntriesQuery }; answer: Page<AuditEntry> };
  listApps: { request: { query?: ListAppsQuery }; answer: Page<App> };
  createApp: { request: { body: CreateAppBody }; answer: CreateAppAnswer };
  getApp: { request: { path: { id: string } }; answer: App };
  editApp: { request: { path: { id: string }; body: EditAppBody }; answer: App };
  listNodes: { request: Record<never, never>; answer: ListNodesAnswer };
  getMetrics: { request: Record<never, never>; answer: string };
  getHealth: { request: Record<never, never>; answer: Status };
  getReadiness: { request: Record<never, never>; answer: GetReadinessAnswer };
  getOpenapiJson: { request: Record<never, never>; answer: Readonly<Record<string, unknown>> };
  getOpenapiYaml: { request: Record<never, never>; answer: string };
  listContracts: { request: Record<never, never>; answer: ListContractsAnswer };
  getContract: { request: { path: { title: string } }; answer: Readonly<Record<string, unknown>> };
  getContractReport: { request: { path: { title: string } }; answer: ContractReport };
  createPortalLink: { request: { body: CreatePortalLinkBody }; answer: CreatePortalLinkAnswer };
}
