// A callback that matches an event, and the lane of its deliveries. The filters that apply are
// those in force when the deliveries are created. A payload is parsed only if one of the callbacks
// has a filter.
import type { Rules } from '../../core/domain/filter.ts';
import { payloadJudge } from '../../core/domain/filter.ts';
import type { Lane } from '../../core/domain/lane.ts';

export interface Listener {
  callback: number;
  lane: Lane;
  /** The filter that the payload must match; undefined: any payload. */
  rules: Rules | undefined;
}

/** The callbacks whose filter matches the payload. */
export function fitting<L extends Pick<Listener, 'rules'>>(
  listeners: readonly L[],
  payload: Uint8Array,
): readonly L[] {
  if (listeners.every(({ rules }) => rules === undefined)) return listeners;
  const judge = payloadJudge(payload);
  return listeners.filter(({ rules }) => rules === undefined || judge(rules));
}
