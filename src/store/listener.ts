// Who hears an event: a callback, and the lane that its deliveries wait in. Of those the event is meant
// for whose filter it fits: the filters that hold when its deliveries are made. Nobody else pays for
// them: a payload is parsed only if a listener has one.
import type { Rules } from '../core/filter.ts';
import { payloadJudge } from '../core/filter.ts';
import type { Lane } from '../core/lane.ts';

export interface Listener {
  callback: number;
  lane: Lane;
  /** What the payload must fit; undefined: it takes all. */
  rules: Rules | undefined;
}

/** Those of the listeners whom an event with this payload is meant for. */
export function fitting<L extends Pick<Listener, 'rules'>>(
  listeners: readonly L[],
  payload: Uint8Array,
): readonly L[] {
  if (listeners.every(({ rules }) => rules === undefined)) return listeners;
  const judge = payloadJudge(payload);
  return listeners.filter(({ rules }) => rules === undefined || judge(rules));
}
