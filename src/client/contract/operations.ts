// Generated from openapi.yaml by `npm run docs`: the path of each operation, and whether it may be retried.

export interface Operation {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
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
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationId = keyof typeof operations;
