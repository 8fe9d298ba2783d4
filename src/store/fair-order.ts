// Apps in turn. A claim takes one lane of each app after the other, the app with the most room first, so that no app
// fills a claim while others are ready; within an app the order of lanes stays.
import type { Slots } from './slots.ts';

export function fairOrder<L extends { appNo: number }>(
  lanes: readonly L[],
  { ofApp }: Pick<Slots, 'ofApp'>,
): readonly L[] {
  const byApp = Map.groupBy(lanes, ({ appNo }) => appNo);
  if (byApp.size <= 1) return lanes;
  const queues = [...byApp].toSorted(([a], [b]) => compare(ofApp(b).room, ofApp(a).room));
  return inTurns(queues.map(([, queue]) => queue));
}

/** One of each queue after the other, until all are empty. */
export function inTurns<T>(queues: Iterable<readonly T[]>): T[] {
  const all = [...queues];
  const longest = Math.max(...all.map(({ length }) => length));
  const ordered: T[] = [];
  for (let turn = 0; turn < longest; turn += 1) {
    for (const queue of all) ordered.push(...queue.slice(turn, turn + 1));
  }
  return ordered;
}

/** Both may have no limit, and their difference is no number then. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
