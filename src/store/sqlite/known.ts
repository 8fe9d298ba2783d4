// What one publish has found out, the next one need not ask, in the same call or in another one of the batch:
// nothing else is written in between. A batch of 100 events to 100 subscriptions that filter takes 3 to 10 ms with
// it, and 27 to 66 where each event has a name of its own. It was 570 to 630 when every event read every filter
// together with the largest metadata, and 24 to 56 without any (CPU time of the store, 2 busy cores).
import type { KnownRules } from '../kept-filter.ts';
import type { Listener } from '../listener.ts';
import type { LanesMet } from './match.ts';

export interface Known {
  lanes: LanesMet;
  rules: KnownRules;
  /** By app, contract and name of the event; undefined: they are too many. */
  heard: Map<string, readonly Listener[] | undefined>;
  /** Of the slice that is written to: events within are found by a search. */
  span: { slice: number; first: string; last: string } | undefined;
}

export function nothingKnown(): Known {
  return { lanes: new Map(), rules: new Map(), heard: new Map(), span: undefined };
}
