// Fan-outs that cannot be read, or cannot go on: they are passed over for the life of this process, so that
// all others flow. Their rows stay as they are, for whoever can mend them; the next start tries again.
import { limits } from '../core/limits.ts';

export interface Aside {
  /** All up to this event are passed over, and these besides. */
  upTo(): string;
  events(): readonly string[];
  /** The same events as JSON. */
  list(): string;
  isEmpty(): boolean;
  add(event: string, reason: string): void;
  /** What was added and nobody was told of; for after the commit, so that no failure takes it along. */
  news(): string | undefined;
}

export function createAside(): Aside {
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
      // The oldest is always taken first: what is older has ended, or stands aside as well.
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

/** With what is to be told, if anything is. */
export function withNews<T extends object>(fannedOut: T, aside: Aside): T & { failure?: string } {
  const failure = aside.news();
  return failure === undefined ? fannedOut : { ...fannedOut, failure };
}
