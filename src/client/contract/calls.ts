// Generated from openapi.yaml by `npm run docs`: parameters and responses of each operation.
import type {
  ListEventsQuery,
  Event,
  PublishEventBody,
  Accepted,
  PublishEventsBody,
  PublishEventsAnswer,
  GetEventAnswer,
  ListEventTypesAnswer,
} from './event.ts';
import type {
  SubscribeOperationQuery,
  SubscribeOperationBody,
  Subscribed,
  UnsubscribeOperationQuery,
  UnsubscribeOperationAnswer,
  ListSubscriptionsQuery,
  Subscription,
  EditSubscriptionBody,
  Secret,
  RotateBody,
} from './subscription.ts';
import type {
  ListDeliveriesQuery,
  Delivery,
  GetDeliveryAnswer,
  RetryDeliveryAnswer,
} from './delivery.ts';
import type { ListReplaysQuery, Replay, CreateReplayBody, CreateReplay200 } from './replay.ts';
import type {
  GetStatsQuery,
  GetStatsAnswer,
  GetSubscriptionStatsQuery,
  GetSubscriptionStatsAnswer,
} from './stats.ts';
import type { ListKeysQuery, Key, CreateKeyBody, KeyOnce } from './key.ts';
import type { ListAppsQuery, App, CreateAppBody, CreateAppAnswer, EditAppBody } from './app.ts';
import type { ListNodesAnswer } from './node.ts';
import type { Status, GetReadinessAnswer, ListContractsAnswer, ContractReport } from './service.ts';
import type { Page } from '../page.ts';

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
  getSubscription: { request: { path: { id: string } }; answer: Subscription };
  editSubscription: {
    request: { path: { id: string }; body: EditSubscriptionBody };
    answer: Subscription;
  };
  deleteSubscription: { request: { path: { id: string } }; answer: undefined };
  getSecret: { request: { path: { id: string } }; answer: Secret };
  rotateSecret: { request: { path: { id: string }; body?: RotateBody }; answer: Secret };
  pingSubscription: { request: { path: { id: string } }; answer: Accepted };
  listEvents: { request: { query?: ListEventsQuery }; answer: Page<Event> };
  publishEvent: { request: { body: PublishEventBody }; answer: Accepted };
  publishEvents: { request: { body: PublishEventsBody }; answer: PublishEventsAnswer };
  getEvent: { request: { path: { id: string } }; answer: GetEventAnswer };
  listEventTypes: { request: Record<never, never>; answer: ListEventTypesAnswer };
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
}
