// Fan-outs that cannot be read, or cannot go on: they are passed over for the life of this process, so that
// all others flow. Their rows stay as they are, for whoever can mend them; the next start tries again.
import { strict as assert } from 'node:assert';
import { limits } from '../core/limits.ts';

export interface Aside {
  events(): readonly string[];
  /** The same as JSON. */
  list(): string;
  isEmpty(): boolean;
  /** And says so. */
  add(event: string, reason: string): string;
}

export function createAside(): Aside {
  const events = new Set<string>();
  let list = '[]';
  return {
    events: () => [...events],
    list: () => list,
    isEmpty: () => events.size === 0,
    add: (event, reason) => {
      assert(events.size < limits.fanOutsAsideMax, 'Too many fan-outs cannot go on');
      events.add(event);
      list = JSON.stringify([...events]);
      return `Cannot fan out "${event}", it is passed over: ${reason}`;
    },
  };
}
