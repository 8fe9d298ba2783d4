// Fair order of apps. A claim takes one lane of each app in turn, beginning with the app with the
// most room, so that no app fills a claim while others are ready. The order of lanes within an app
// is kept.
import type { OfferSlots } from './offer-slots.ts';

export function fairOrder<L extends { appNo: number }>(
  lanes: readonly L[],
  { ofApp }: Pick<OfferSlots, 'ofApp'>,
): readonly L[] {
  const byApp = Map.groupBy(lanes, ({ appNo }) => appNo);
  if (byApp.size <= 1) return lanes;
  const queues = [...byApp].toSorted(([a], [b]) => compare(ofApp(b).room, ofApp(a).room));
  return inTurns(queues.map(([, queue]) => queue));
}

/** One item of each queue in turn, until all are empty. */
export function inTurns<T>(queues: Iterable<readonly T[]>): T[] {
  const all = [...queues];
  const longest = Math.max(...all.map(({ length }) => length));
  const ordered: T[] = [];
  for (let turn = 0; turn < longest; turn += 1) {
    for (const queue of all) ordered.push(...queue.slice(turn, turn + 1));
  }
  return ordered;
}

/** Both may be infinite, and their difference would be NaN. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
