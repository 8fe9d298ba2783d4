// `ringback/client`: every operation of a Ringback service, typed from its contract. It needs only web standards.
// This file is the whole public interface.
import { createCaller } from './caller.ts';
import { connect, type ClientOptions } from './connection.ts';
import {
  deliveryCalls,
  replayCalls,
  type DeliveryCalls,
  type ReplayCalls,
} from './delivery-calls.ts';
import {
  eventCalls,
  eventTypeCalls,
  publishing,
  type AnyEvents,
  type EventCalls,
  type EventTypeCalls,
  type Publishing,
} from './event-calls.ts';
import {
  appCalls,
  type AppCalls,
  auditCalls,
  type AuditCalls,
  contractCalls,
  type ContractCalls,
  keyCalls,
  type KeyCalls,
  serviceCalls,
  type ServiceCalls,
} from './service-calls.ts';
import { stream, type Frame, type StreamOptions } from './stream.ts';
import {
  customerCalls,
  exchangeCalls,
  subscribing,
  subscriptionCalls,
  type CustomerCalls,
  type ExchangeCalls,
  type Subscribing,
  type SubscriptionCalls,
} from './subscription-calls.ts';

/** `Events`: names of events and their payloads, which `publish` then checks; by default any. */
export interface Client<Events extends object = AnyEvents>
  extends Subscribing, Publishing<Events>, ServiceCalls {
  subscriptions: SubscriptionCalls;
  customers: CustomerCalls;
  exchanges: ExchangeCalls;
  events: EventCalls;
  eventTypes: EventTypeCalls;
  deliveries: DeliveryCalls;
  replays: ReplayCalls;
  keys: KeyCalls;
  apps: AppCalls;
  audit: AuditCalls;
  contracts: ContractCalls;
  /**
   * Changes as they happen. Aborting the signal ends the loop; after a lost connection the stream resumes
   * where it stopped; a rejected key is a RingbackError.
   */
  stream(options?: StreamOptions): AsyncIterable<Frame>;
}

export function createClient<Events extends object = AnyEvents>(
  options: ClientOptions,
): Client<Events>;
export function createClient(options: ClientOptions): Client {
  const connection = connect(options);
  const caller = createCaller(connection);
  return {
    ...subscribing(caller),
    ...publishing(caller),
    ...serviceCalls(caller),
    subscriptions: subscriptionCalls(caller),
    customers: customerCalls(caller),
    exchanges: exchangeCalls(caller),
    events: eventCalls(caller),
    eventTypes: eventTypeCalls(caller),
    deliveries: deliveryCalls(caller),
    replays: replayCalls(caller),
    keys: keyCalls(caller),
    apps: appCalls(caller),
    audit: auditCalls(caller),
    contracts: contractCalls(caller),
    stream: (streamOptions) => stream(connection, streamOptions),
  };
}

export { RingbackError, UnreachableError, type OwnCode, type Refusal } from './failure.ts';
export type { KeyedOptions, PublishOptions } from './caller.ts';
export type { CallOptions, ClientOptions } from './connection.ts';
export type { Fetch, Sleep } from './platform.ts';
export type { Listing, Page } from './listing.ts';
export type { Changes, Frame, StreamOptions } from './stream.ts';
export type {
  Addressing,
  AnyEvents,
  DeclaredEventType,
  EventCalls,
  EventType,
  EventTypeCalls,
  Publishing,
  EventInput,
  ShownEvent,
} from './event-calls.ts';
export type {
  ExchangeCalls,
  SubscribeOneInput,
  SubscribeManyInput,
  SubscribeEventInput,
  SubscribeOptions,
  Subscribing,
  SubscriptionCalls,
} from './subscription-calls.ts';
export type { DeliveryCalls, ReplayCalls, ReplayInput } from './delivery-calls.ts';
export type {
  AppCalls,
  AuditCalls,
  ContractCalls,
  Document,
  KeyCalls,
  ServiceCalls,
} from './service-calls.ts';
export type * from './contract/access.ts';
export type * from './contract/delivery.ts';
export type * from './contract/event.ts';
export type * from './contract/service.ts';
export type * from './contract/subscription.ts';
