// Fan-outs that cannot be read or cannot continue are skipped for the life of this process, so that
// all others proceed. Their rows stay as they are, so that they can be repaired; the next start
// tries again.
import { limits } from '../../core/limits/limits.ts';

export interface StalledFanOuts {
  /** All events up to this one are skipped, and those of `events()`. */
  upTo(): string;
  events(): readonly string[];
  /** The same events as JSON. */
  list(): string;
  isEmpty(): boolean;
  add(event: string, reason: string): void;
  /**
   * Messages about new entries since the last call. Call it after the commit, so that a failed
   * transaction does not lose any.
   */
  news(): string | undefined;
}

export function createStalledFanOuts(): StalledFanOuts {
  const events = new Set<string>();
  let list = '[]';
  let upTo = '';
  let untold: string[] = [];
  return {
    upTo: () => upTo,
    events: () => [...events],
    list: () => list,
    isEmpty: () => events.size === 0 && upTo === '',
    add: (event, reason) => {
      // The oldest fan-out is always tried first, so every older one has ended or is skipped as
      // well.
      if (events.size >= limits.fanOutsAsideMax) {
        upTo = event > upTo ? event : upTo;
        events.clear();
      } else events.add(event);
      list = JSON.stringify([...events]);
      untold = [...untold, `Cannot fan out "${event}", skipping it: ${reason}`];
    },
    news: () => {
      const told = untold.join('\n');
      untold = [];
      return told === '' ? undefined : told;
    },
  };
}

/** Adds the pending messages, if there are any. */
export function withNews<T extends object>(
  fannedOut: T,
  aside: StalledFanOuts,
): T & { failure?: string } {
  const failure = aside.news();
  return failure === undefined ? fannedOut : { ...fannedOut, failure };
}
