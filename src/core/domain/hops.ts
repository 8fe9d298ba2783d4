// The hop count of an event: how many Ringback callbacks lie between it and the first event of its
// chain. It breaks loops, in which a callback leads to an event whose callback leads to the next
// one. It is stored in front of the event's trace, which already travels to every attempt; hop 0,
// as nearly all events have, is not stored.
import { limits } from '../limits/limits.ts';
import { Problem } from '../errors/problem.ts';

/**
 * Callbacks carry this header, and receivers pass it on when they publish. Value: the number of
 * callbacks so far.
 */
export const hopsHeader = 'ringback-hops';

export function withHops(hops: number, trace: string | undefined): string | undefined {
  if (hops === 0) return trace;
  return trace === undefined ? `${prefix}${hops}` : `${prefix}${hops} ${trace}`;
}

export function hopsOf(kept: string | undefined): number {
  return Number(/^hops=(\d{1,3})(?: |$)/.exec(kept ?? '')?.[1] ?? 0);
}

/** The trace alone; empty when there is none. */
export function withoutHops(kept: string): string {
  if (!kept.startsWith(prefix)) return kept;
  const space = kept.indexOf(' ');
  return space < 0 ? '' : kept.slice(space + 1);
}

const prefix = 'hops=';

/** `hops`: the count of the event that is about to be published. */
export function refuseLoop(hops: number): void {
  if (hops <= limits.hopsMax) return;
  const message = `is ${hops}, expected at most ${limits.hopsMax}`;
  const detail =
    `Cannot publish: a chain of ${hops} callbacks led to this event, and the limit is ` +
    `${limits.hopsMax}. Callbacks and events form a loop: find the callback URL that ` +
    'leads back to a publish, and break the loop there';
  throw new Problem('too_many_hops', detail, {
    faults: [{ field: 'header.Ringback-Hops', message }],
  });
}
