// Deliveries and replays: listing them, and sending again.
import type { Caller, KeyedOptions } from './caller.ts';
import type { CallOptions } from './connection.ts';
import type {
  CreateReplay200,
  CreateReplayBody,
  Delivery,
  GetDeliveryAnswer,
  ListDeliveriesQuery,
  ListReplaysQuery,
  Replay,
  RetryDeliveryAnswer,
} from './contract/delivery.ts';
import { createListing, type Listing } from './listing.ts';

export interface DeliveryCalls {
  /** Newest first. */
  list(filters?: ListDeliveriesQuery, options?: CallOptions): Listing<Delivery>;
  /** Includes its attempts. */
  get(id: string, options?: CallOptions): Promise<GetDeliveryAnswer>;
  /**
   * Sends it again; the response names the delivery that is now pending. Not retried if no response arrives.
   */
  retry(id: string, options?: CallOptions): Promise<RetryDeliveryAnswer>;
}

export type ReplayInput = Omit<CreateReplayBody, 'dryRun'>;

export interface ReplayCalls {
  /** Newest first. */
  list(filters?: ListReplaysQuery, options?: CallOptions): Listing<Replay>;
  /** Starts sending all matching deliveries again. */
  create(input: ReplayInput, options?: KeyedOptions): Promise<Replay>;
  /** Number of deliveries that `create` would send again; nothing is sent or stored (`dryRun`). */
  count(input: ReplayInput, options?: CallOptions): Promise<CreateReplay200>;
  get(id: string, options?: CallOptions): Promise<Replay>;
  cancel(id: string, options?: CallOptions): Promise<Replay>;
}

export function deliveryCalls({ call }: Caller): DeliveryCalls {
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listDeliveries', { query: { ...filters, cursor } }, options),
      ),
    get: async (id, options) => call('getDelivery', { path: { id } }, options),
    retry: async (id, options) => call('retryDelivery', { path: { id } }, options),
  };
}

export function replayCalls({ call, send }: Caller): ReplayCalls {
  /** `dryRun` decides which of the two responses is returned. */
  const create = async (
    body: CreateReplayBody,
    options: KeyedOptions | undefined,
  ): ReturnType<Caller['send']> => send('createReplay', { text: JSON.stringify(body) }, options);
  return {
    list: (filters = {}, options = {}) =>
      createListing(async (cursor = filters.cursor) =>
        call('listReplays', { query: { ...filters, cursor } }, options),
      ),
    create: async (input, options) => (await create({ ...input, dryRun: false }, options)).value,
    count: async (input, options) => (await create({ ...input, dryRun: true }, options)).value,
    get: async (id, options) => call('getReplay', { path: { id } }, options),
    cancel: async (id, options) => call('cancelReplay', { path: { id } }, options),
  };
}
