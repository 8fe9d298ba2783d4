// The success responses that an operation declares.
import { child, entries } from '../document/ref-node.ts';
import type { RefNode } from '../document/ref-node.ts';

export interface Response {
  /** `2XX` counts as 200. */
  status: number;
  place: RefNode;
}

/** Lowest status first. */
export function successes(operation: RefNode): Response[] {
  return entries(child(operation, 'responses'))
    .filter(([key]) => /^2(?:\d\d|xx)$/iu.test(key))
    .map(([key, place]) => ({ status: statusOf(key), key, place }))
    .toSorted((a, b) => a.status - b.status || a.key.localeCompare(b.key))
    .map(({ status, place }) => ({ status, place }));
}

function statusOf(key: string): number {
  return /^\d+$/u.test(key) ? Number(key) : 200;
}
