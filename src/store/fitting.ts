// Of those who hear an event, those whom it is meant for: an event is judged by the filters that hold when
// its deliveries are made. Nobody else pays: a payload is parsed only if a listener has a filter.
import { strict as assert } from 'node:assert';
import type { Filter } from '../core/filter.ts';
import { payloadJudge, readFilter } from '../core/filter.ts';
import type { Listener } from './listener.ts';

/** The filter of a subscription; undefined: it was taken away meanwhile. */
export type FilterOf = (subscription: number) => Filter | undefined;

export function fitting<L extends Pick<Listener, 'filteredBy'>>(
  listeners: readonly L[],
  payload: Uint8Array,
  filterOf: FilterOf,
): readonly L[] {
  if (listeners.every(({ filteredBy }) => filteredBy === undefined)) return listeners;
  const judge = payloadJudge(payload);
  return listeners.filter(({ filteredBy }) => {
    const filter = filteredBy === undefined ? undefined : filterOf(filteredBy);
    return filter === undefined || judge(filter);
  });
}

/** The filter among the settings of a subscription, as its row has them. */
export function filterIn(settings: string): Filter | undefined {
  const all: unknown = JSON.parse(settings);
  if (typeof all !== 'object' || all === null || !('filter' in all)) return undefined;
  const reading = readFilter(all.filter, 'settings#/filter');
  assert(reading.kind === 'filter', 'Cannot read a filter: its row holds none that was accepted');
  return reading.filter;
}
