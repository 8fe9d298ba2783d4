// Large answers that wait in memory for whoever asked to read them. When there are too many, those who
// have not read theirs for long lose the connection. Never holds an answer itself.
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';

export interface Unread {
  /** An answer was handed to its connection. Call what comes back when it is gone. */
  add(answer: LargeAnswer): () => void;
  hasRoom(): boolean;
  bytes(): number;
}

export interface LargeAnswer {
  bytes: number;
  /** To somebody without a key. */
  isPublic: boolean;
  /** Ends its connection. */
  cut: () => void;
}

interface Waiting extends LargeAnswer {
  sinceMs: number;
}

/**
 * What anybody may read has little room of its own, and whoever waits there for longest makes way at once:
 * without a key nobody can have those turned away who have one.
 */
export function createUnread(world: Pick<World, 'monotonicMs'>): Unread {
  const known = createRoom(limits.unreadBytesMax);
  const strangers = createRoom(limits.unreadPublicBytesMax);
  const isSlow = ({ sinceMs }: Waiting): boolean =>
    world.monotonicMs() - sinceMs >= limits.unreadMs;
  return {
    add: (answer) => {
      const one = { ...answer, sinceMs: world.monotonicMs() };
      const room = answer.isPublic ? strangers : known;
      room.add(one);
      if (answer.isPublic) strangers.clear((other) => other !== one);
      else known.clear(isSlow);
      return () => room.remove(one);
    },
    hasRoom: () => known.clear(isSlow),
    bytes: () => known.bytes() + strangers.bytes(),
  };
}

interface Room {
  add(one: Waiting): void;
  remove(one: Waiting): void;
  bytes(): number;
  /** Cuts off the oldest while they may be and it is full; says whether there is room now. */
  clear(mayGo: (one: Waiting) => boolean): boolean;
}

function createRoom(most: number): Room {
  // In the order of their times, so that the oldest is the first.
  const answers = new Set<Waiting>();
  let total = 0;
  const remove = (one: Waiting): void => {
    if (answers.delete(one)) total -= one.bytes;
  };
  return {
    add: (one) => {
      answers.add(one);
      total += one.bytes;
    },
    remove,
    bytes: () => total,
    clear: (mayGo) => {
      for (const one of answers) {
        if (total < most || !mayGo(one)) break;
        remove(one);
        one.cut();
      }
      return total < most;
    },
  };
}
