// Large answers that wait in memory for whoever asked to read them. When there are too many, those who
// have not read theirs for long lose the connection. Never holds an answer itself.
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';

export interface Unread {
  /** An answer was handed to its connection, which `cut` ends. Call what comes back when it is gone. */
  add(bytes: number, cut: () => void): () => void;
  hasRoom(): boolean;
  bytes(): number;
}

interface Answer {
  bytes: number;
  sinceMs: number;
  cut: () => void;
}

export function createUnread(world: Pick<World, 'monotonicMs'>): Unread {
  // In the order of their times, so that the oldest is the first.
  const answers = new Set<Answer>();
  let total = 0;
  const remove = (one: Answer): void => {
    if (answers.delete(one)) total -= one.bytes;
  };
  const hasRoom = (): boolean => {
    for (const one of answers) {
      const isSlow = world.monotonicMs() - one.sinceMs >= limits.unreadMs;
      if (total < limits.unreadBytesMax || !isSlow) break;
      remove(one);
      one.cut();
    }
    return total < limits.unreadBytesMax;
  };
  return {
    add: (bytes, cut) => {
      const one = { bytes, sinceMs: world.monotonicMs(), cut };
      answers.add(one);
      total += bytes;
      hasRoom();
      return () => remove(one);
    },
    hasRoom,
    bytes: () => total,
  };
}
