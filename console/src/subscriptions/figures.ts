// Statistics next to the subscriptions list: one request per page, repeated for subscriptions that
// change. The list works without them.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, problemOf, type ApiProblem } from '../api.ts';
import { limits } from '../limits.ts';
import { session } from '../session.ts';
import type { GetSubscriptionStatsAnswer as SubscriptionStats } from '../../../src/client/contract/service.ts';
import { useFrames } from '../stream.ts';
import { useThrottled } from '../throttle.ts';

export type Figures = SubscriptionStats['items'][number];

export type AllFigures = {
  readonly byId: ReadonlyMap<string, Figures>;
  readonly problem: ApiProblem | undefined;
  readonly retry: () => void;
};

export function useFigures(ids: readonly string[]): AllFigures {
  const byId = useSignal<ReadonlyMap<string, Figures>>(new Map());
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const asked = useRef(new Set<string>());
  const changed = useRef(new Set<string>());

  const read = async (wanted: readonly string[]): Promise<void> => {
    try {
      const pages = await Promise.all(inPieces(wanted).map(readFigures));
      byId.value = new Map([...byId.peek(), ...pages.flat()]);
      problem.value = undefined;
    } catch (error) {
      // Signed out meanwhile: the sign-in page is shown.
      if (session.peek() !== undefined) problem.value = problemOf(error);
    }
  };
  useEffect(() => {
    const fresh = ids.filter((id) => !asked.current.has(id));
    for (const id of fresh) asked.current.add(id);
    if (fresh.length > 0) void read(fresh);
  }, [ids.join()]);

  const readChanged = useThrottled(() => {
    const wanted = ids.filter((id) => changed.current.has(id));
    changed.current.clear();
    if (wanted.length > 0) void read(wanted);
  }, limits.statsEveryMs);
  useFrames(({ deliveries, more, isReset }) => {
    for (const { subscriberId } of deliveries) changed.current.add(subscriberId);
    if (more > 0 || isReset) for (const id of ids) changed.current.add(id);
    if (changed.current.size > 0) readChanged();
  });
  return { byId: byId.value, problem: problem.value, retry: () => void read(ids) };
}

async function readFigures(ids: readonly string[]): Promise<[string, Figures][]> {
  const query = { subscriberIds: ids.join(), range: '24h' };
  const { items } = await get<SubscriptionStats>('/stats/subscriptions', { query });
  return items.map((one) => [one.subscriberId, one]);
}

function inPieces(ids: readonly string[]): string[][] {
  const pieces: string[][] = [];
  for (let from = 0; from < ids.length; from += limits.figureIdsMax) {
    pieces.push(ids.slice(from, from + limits.figureIdsMax));
  }
  return pieces;
}
