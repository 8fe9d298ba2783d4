// The deliveries of one event or subscription, kept up to date by the stream. Where the stream is
// incomplete or down, they are reloaded.
import { useEffect, useMemo } from 'preact/hooks';
import { get, type Query } from './api.ts';
import { limits } from './limits.ts';
import { useList, type List } from './list.ts';
import { mergeDeliveries } from './live-deliveries.ts';
import type { Delivery } from '../../src/client/contract/delivery.ts';
import type { Frame } from './frame.ts';
import type { Page } from './list.ts';
import { connection, useFrames } from './stream.ts';
import { useThrottled } from './throttle.ts';
import { trackChanges } from './changes-during-read.ts';

export type DeliveryFilter = {
  readonly eventId?: string;
  readonly subscriberId?: string;
  readonly limit: number;
};

export function useRelatedDeliveries(filter: DeliveryFilter): List<Delivery> {
  const { eventId, subscriberId, limit } = filter;
  const tracker = useMemo(trackChanges, []);
  const merge = (items: readonly Delivery[], changed: readonly Delivery[]): readonly Delivery[] => {
    const mine = changed.filter((one) => belongs(one, filter));
    return mine.length === 0 ? items : mergeDeliveries(items, mine, { max: limit });
  };
  const list = useList<Delivery>(JSON.stringify(filter), (cursor, signal) => {
    const query: Query = { eventId, subscriberId, limit, cursor };
    return tracker.read(
      () => get<Page<Delivery>>('/deliveries', { query, ...(signal ? { signal } : {}) }),
      (page, changed) => ({ ...page, items: merge(page.items, changed) }),
    );
  });
  const scheduleReload = useThrottled(list.reload, limits.refreshMs);
  useFrames((frame) => {
    tracker.record(frame.deliveries);
    list.change((items) => merge(items, frame.deliveries));
    // A list that is still loading missed these changes, and a truncated frame may hide some of
    // ours.
    if (list.state.kind !== 'ready' || mayHaveMissed(frame)) scheduleReload();
  });
  const isLive = connection.value === 'live';
  const hasPending = list.items.some(isPending);
  useEffect(() => {
    if (!isLive && hasPending) scheduleReload();
  }, [isLive, hasPending, list.state]);
  return list;
}

export function isPending({ state }: Delivery): boolean {
  return state === 'due' || state === 'running';
}

export function mayHaveMissed({ more, isReset }: Frame): boolean {
  return more > 0 || isReset;
}

function belongs(delivery: Delivery, { eventId, subscriberId }: DeliveryFilter): boolean {
  if (eventId !== undefined && delivery.eventId !== eventId) return false;
  return subscriberId === undefined || delivery.subscriberId === subscriberId;
}
