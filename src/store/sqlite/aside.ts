// Fan-outs that cannot be read, or cannot go on: they are passed over for the life of this process, so that
// all others flow. Their rows stay as they are, for whoever can mend them; the next start tries again.
import { strict as assert } from 'node:assert';
import { limits } from '../../core/limits.ts';

export interface Aside {
  /** The events, as a JSON list. */
  list(): string;
  isEmpty(): boolean;
  add(event: string): void;
}

export function createAside(): Aside {
  const events = new Set<string>();
  let list = '[]';
  return {
    list: () => list,
    isEmpty: () => events.size === 0,
    add: (event) => {
      assert(events.size < limits.fanOutsAsideMax, 'Too many fan-outs cannot go on');
      events.add(event);
      list = JSON.stringify([...events]);
    },
  };
}
