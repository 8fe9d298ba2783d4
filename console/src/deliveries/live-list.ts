// The live list of deliveries: rows change in place, new rows appear on top. While the user
// interacts with the list, new rows are held back and counted. When a frame is incomplete, the list
// is reloaded.
import { useComputed, useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { get, withQuery } from '../api.ts';
import { limits } from '../limits.ts';
import { useList, type List } from '../list.ts';
import { isInLoadedRange, mergeDeliveries, replaceDeliveries } from '../live-deliveries.ts';
import type { NewRows } from '../list-updates.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Frame } from '../frame.ts';
import type { Page } from '../list.ts';
import { connection, useFrames } from '../stream.ts';
import { useIsStale } from '../use-is-stale.ts';
import { useThrottled } from '../throttle.ts';
import { trackChanges } from '../changes-during-read.ts';
import { matches, type DeliveryFilter } from './filter.ts';

export type LiveList = {
  readonly list: List<Delivery>;
  /** The rows belong to the previous filters. */
  readonly isStale: boolean;
  readonly newRows: NewRows;
};

/** Deliveries held back while the user interacts. */
type Waiting = {
  readonly fresh: ReadonlyMap<string, Delivery>;
  /** There may be more, which the frame left out. */
  readonly isMore: boolean;
};

/** Upper bound of the rows until the next reload. */
const rowsMax = limits.liveRowsMax + limits.waitingRowsMax;

const none: Waiting = { fresh: new Map(), isMore: false };

export function useLiveList(
  filter: DeliveryFilter,
  isInteracting: ReadonlySignal<boolean>,
): LiveList {
  const key = withQuery('', filter);
  const waiting = useSignal<Waiting>(none);
  const wasLive = useRef(false);
  const tracker = useMemo(trackChanges, []);
  const list = useList(key, (cursor, signal) => {
    // Changes from here on are collected; earlier ones are in the response.
    if (cursor === undefined) {
      waiting.value = none;
      wasLive.current = connection.peek() === 'live';
    }
    const query = { ...filter, limit: limits.pageItems, cursor };
    return tracker.read(
      () => get<Page<Delivery>>('/deliveries', { query, ...(signal ? { signal } : {}) }),
      (page, changed) => ({ ...page, items: withChanges(page, changed, { cursor, filter }) }),
    );
  });
  const readAgain = useThrottled(list.reload, limits.listEveryMs);
  const showWaiting = (): void => {
    const { fresh, isMore } = waiting.peek();
    if (isMore || list.items.length > limits.liveRowsMax) return readAgain();
    if (fresh.size === 0) return;
    list.change((items) => mergeDeliveries(items, [...fresh.values()], { max: rowsMax }));
    waiting.value = none;
  };
  const known = new Set(list.items.map(({ id }) => id));
  useFrames((frame) => {
    tracker.record(frame.deliveries);
    list.change((items) => replaceDeliveries(items, frame.deliveries));
    const isNew = (one: Delivery): boolean =>
      !known.has(one.id) && matches(one, filter) && isInLoadedRange(one, list);
    waiting.value = withFresh(waiting.peek(), frame, {
      fresh: frame.deliveries.filter(isNew),
      // Changes between the response and the start of the stream are not reported.
      isBlind: frame.isReset || !wasLive.current,
    });
    if (!isInteracting.peek()) showWaiting();
  });
  const isIdle = useComputed(() => !isInteracting.value);
  useSignalEffect(() => {
    if (isIdle.value) showWaiting();
  });
  const { fresh, isMore } = waiting.value;
  return {
    list,
    isStale: useIsStale(key, list),
    newRows: {
      count: [...fresh.keys()].filter((id) => !known.has(id)).length,
      isMore,
      show: showWaiting,
    },
  };
}

/** The first page with new rows on top; later pages only with updates. */
function withChanges(
  { items, nextCursor }: Page<Delivery>,
  streamed: readonly Delivery[],
  { cursor, filter }: { cursor: string | undefined; filter: DeliveryFilter },
): readonly Delivery[] {
  const changed = replaceDeliveries(items, streamed);
  if (cursor !== undefined) return changed;
  const reach = { items, hasMore: nextCursor !== null };
  const fresh = streamed.filter((one) => matches(one, filter) && isInLoadedRange(one, reach));
  return mergeDeliveries(changed, fresh, { max: rowsMax });
}

function withFresh(
  waiting: Waiting,
  frame: Frame,
  { fresh, isBlind }: { fresh: readonly Delivery[]; isBlind: boolean },
): Waiting {
  const isMore = waiting.isMore || isBlind || frame.more > 0;
  if (fresh.length === 0 && isMore === waiting.isMore) return waiting;
  const all = new Map(waiting.fresh);
  for (const one of fresh) all.set(one.id, one);
  const isFull = all.size > limits.waitingRowsMax;
  return { fresh: isFull ? waiting.fresh : all, isMore: isMore || isFull };
}
