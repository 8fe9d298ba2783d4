// Results of reads that one publish shares with the next ones of its batch: nothing else is written
// in between. A batch of events to many subscriptions with filters would otherwise read every
// filter again for every event, which takes up to a hundred times as long.
import type { Lane } from '../../../core/domain/lane.ts';
import type { KnownRules, Listener } from '../../rules/listeners.ts';

/** Lanes that were read, by number. */
export type LanesMet = Map<number, Lane>;

export interface PublishMemo {
  lanes: LanesMet;
  rules: KnownRules;
  /**
   * By app, contract and name of the event; undefined: too many match, so they are left to a
   * fan-out.
   */
  heard: Map<string, readonly Listener[] | undefined>;
  /** Span of the current slice: searches find events only within the stored span. */
  span: { slice: number; first: string; last: string } | undefined;
}

export function emptyMemo(): PublishMemo {
  return { lanes: new Map(), rules: new Map(), heard: new Map(), span: undefined };
}
