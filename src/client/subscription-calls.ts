// Subscribing, unsubscribing, and managing subscriptions.
import type { Caller, KeyedOptions } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type { CreatePortalLinkAnswer, CreatePortalLinkBody } from './contract/access.ts';
import type { Accepted, EventName } from './contract/event.ts';
import type {
  CustomerSummary,
  EditSubscriptionBody,
  ListCustomersQuery,
  ListSubscriptionsQuery,
  RegisterExchange200,
  RegisterExchange201,
  RegisterExchangeBody,
  RotateBody,
  Secret,
  SubscribeBody,
  Subscribed,
  SubscribeMulti,
  Subscription,
  UnsubscribeOperationAnswer,
} from './contract/subscription.ts';
import { createListing, type Listing } from './listing.ts';

type Without<Names extends string> = { readonly [Name in Names]?: undefined };

type MultiUrl = 'inProgressUrl' | 'failedUrl' | 'successUrl';

/** Matches every event, or those that `x-ringback` selects. */
export type SubscribeOneInput = SubscribeBody & Without<'event' | MultiUrl>;

/** Matches this event. */
export type SubscribeEventInput = SubscribeBody & { event: EventName } & Without<MultiUrl>;

/** Matches `inProgress`, `failed` and `success`, each with its own URL; at least one is required. */
export type SubscribeManyInput = SubscribeMulti & Without<'event' | 'callbackUrl'>;

/** The three variants of the operation. */
export type SubscribeOptions = SubscribeOneInput | SubscribeEventInput | SubscribeManyInput;

export interface Subscribing {
  subscribe(input: SubscribeOptions, options?: KeyedOptions): Promise<Subscribed>;
  /** Ends all callbacks of the subscription. Ending it again returns the same response. */
  unsubscribe(subscriberId: string, options?: CallOptions): Promise<UnsubscribeOperationAnswer>;
}

export interface SubscriptionCalls {
  /** Newest first. */
  list(filters?: ListSubscriptionsQuery, options?: CallOptions): Listing<Subscription>;
  get(id: string, options?: CallOptions): Promise<Subscription>;
  /** All changes or none. Absent fields stay as they are. */
  edit(id: string, changes: EditSubscriptionBody, options?: CallOptions): Promise<Subscription>;
  /** Makes an unconfirmed subscription active. Confirming it again changes nothing. */
  confirm(id: string, options?: CallOptions): Promise<Subscription>;
  /** Same as `unsubscribe`. */
  delete(id: string, options?: CallOptions): Promise<void>;
  /** The secret that receivers verify signatures with. */
  secret(id: string, options?: CallOptions): Promise<Secret>;
  /** Not retried if no response arrives: read `secret` in that case. */
  rotateSecret(id: string, input?: RotateBody, options?: CallOptions): Promise<Secret>;
  /** Sends a test event. Not retried if no response arrives. */
  ping(id: string, options?: CallOptions): Promise<Accepted>;
}

export interface CustomerCalls {
  /** By name, each with the health of its receivers. */
  list(paging?: ListCustomersQuery, options?: CallOptions): Listing<CustomerSummary>;
  /** The link opens once, and is returned only here. Not retried if no response arrives. */
  portalLink(input: CreatePortalLinkBody, options?: CallOptions): Promise<CreatePortalLinkAnswer>;
}

export interface ExchangeCalls {
  /**
   * Registers a request that your API has answered. Call it before the answer leaves. `registered` says whether the
   * exchange makes a subscription.
   */
  register(
    exchange: RegisterExchangeBody,
    options?: KeyedOptions,
  ): Promise<RegisterExchange200 | RegisterExchange201>;
}

export function subscribing({ call, send }: Caller): Subscribing {
  return {
    subscribe: async (input, options) => {
      const { event, ...body } = input;
      const { callbackUrl, ...rest } = body;
      // In the contract's variant query, the values are in the query and only `x-ringback` is in the body.
      const request =
        event === undefined
          ? { text: JSON.stringify(body) }
          : { query: { callbackUrl, event }, text: textOf(rest) };
      const { value } = await send('subscribeOperation', request, options);
      return value;
    },
    unsubscribe: async (subscriberId, options) =>
      call('unsubscribeOperation', { query: { Id: subscriberId } }, options),
  };
}

/** Undefined instead of an empty object. */
function textOf(fields: object): string | undefined {
  const text = JSON.stringify(fields);
  return text === '{}' ? undefined : text;
}

export function subscriptionCalls({ call }: Caller): SubscriptionCalls {
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listSubscriptions', { query: { ...filters, cursor } }, options),
      ),
    get: async (id, options) => call('getSubscription', { path: { id } }, options),
    edit: async (id, body, options) => call('editSubscription', { path: { id }, body }, options),
    confirm: async (id, options) => call('confirmSubscription', { path: { id } }, options),
    delete: async (id, options) => call('deleteSubscription', { path: { id } }, options),
    secret: async (id, options) => call('getSecret', { path: { id } }, options),
    rotateSecret: async (id, body = {}, options = {}) =>
      call('rotateSecret', { path: { id }, body }, options),
    ping: async (id, options) => call('pingSubscription', { path: { id } }, options),
  };
}

export function customerCalls({ call }: Caller): CustomerCalls {
  return {
    list: (paging = {}, options = {}) =>
      createListing(async (cursor = paging.cursor) =>
        call('listCustomers', { query: { ...paging, cursor } }, options),
      ),
    portalLink: async (body, options) => call('createPortalLink', { body }, options),
  };
}

export function exchangeCalls({ call }: Caller): ExchangeCalls {
  return {
    register: async (body, options) => call('registerExchange', { body }, options),
  };
}
