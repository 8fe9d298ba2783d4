// Who hears an event: a callback, and the lane that its deliveries wait in.
import type { Lane } from '../core/lane.ts';
import type { Row } from './row.ts';
import { integer } from './row.ts';

export interface Listener {
  callback: number;
  lane: Lane;
  /** The subscription, if it has a filter that the payload must fit; undefined: it takes all. */
  filteredBy: number | undefined;
}

export function toListener(row: Row, lane: Lane): Listener {
  const isFiltered = integer(row, 'filtered') === 1;
  const filteredBy = isFiltered ? integer(row, 'subscription') : undefined;
  return { callback: integer(row, 'callback'), lane, filteredBy };
}
