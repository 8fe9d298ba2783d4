// The delivery states of the events on a page: loaded once per page, then updated by frames.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../api.ts';
import { limits } from '../limits.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Page } from '../list.ts';
import type { Event as PublishedEvent } from '../../../src/client/contract/event.ts';
import { useFrames } from '../stream.ts';
import { useThrottled } from '../throttle.ts';

type ByEvent = ReadonlyMap<string, ReadonlyMap<string, Delivery>>;

/** The known deliveries of each event, possibly not all of them. */
export function useStates(events: readonly PublishedEvent[], pattern: string | undefined): ByEvent {
  const byEvent = useSignal<ByEvent>(new Map());
  const known = new Set(events.map(({ id }) => id));
  const add = (deliveries: readonly Delivery[]): void => {
    const mine = deliveries.filter(({ eventId }) => known.has(eventId));
    if (mine.length > 0) byEvent.value = withDeliveries(byEvent.peek(), mine);
  };
  const read = async (wanted: readonly PublishedEvent[]): Promise<void> => {
    try {
      add(await readDeliveries(wanted, pattern));
    } catch {
      // The counts are still shown; the states come with the next load.
    }
  };
  const ids = events.map(({ id }) => id).join();
  useEffect(() => {
    const fresh = events.filter(({ id }) => !byEvent.peek().has(id));
    if (fresh.length > 0) void read(fresh);
  }, [ids]);
  const readAll = useThrottled(() => void read(events), limits.statsEveryMs);
  useFrames(({ deliveries, more, isReset }) => {
    add(deliveries);
    if (more > 0 || isReset) readAll();
  });
  return byEvent.value;
}

async function readDeliveries(
  events: readonly PublishedEvent[],
  event: string | undefined,
): Promise<readonly Delivery[]> {
  const times = events.map(({ createdAt }) => Date.parse(createdAt));
  const query = {
    event,
    from: new Date(Math.min(...times)).toISOString(),
    until: new Date(Math.max(...times) + 1).toISOString(),
    limit: limits.stateItems,
  };
  const { items } = await get<Page<Delivery>>('/deliveries', { query });
  return items;
}

function withDeliveries(byEvent: ByEvent, deliveries: readonly Delivery[]): ByEvent {
  const next = new Map(byEvent);
  for (const delivery of deliveries) {
    const before = next.get(delivery.eventId) ?? new Map<string, Delivery>();
    next.set(delivery.eventId, new Map([...before, [delivery.id, delivery]]));
  }
  return next;
}
