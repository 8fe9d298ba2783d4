// Large answers that stay in memory until their clients have read them. When there are too many,
// the connections of the slowest readers are cut. Never holds an answer itself.
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';

export interface ResponseBacklog {
  /**
   * An answer was handed to its connection. Call the function returned once it is sent or dropped.
   */
  add(answer: LargeAnswer): () => void;
  hasRoom(): boolean;
  bytes(): number;
}

export interface LargeAnswer {
  bytes: number;
  /** Requested without a key. */
  isPublic: boolean;
  /** Closes its connection. */
  cut: () => void;
}

interface Waiting extends LargeAnswer {
  sinceMs: number;
}

/**
 * Public answers have a small limit of their own, and the oldest one gives way at once: clients
 * without a key must not cause refusals for clients with one.
 */
export function createResponseBacklog(world: Pick<World, 'monotonicMs'>): ResponseBacklog {
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
  /**
   * Cuts off the oldest answers that `mayGo` allows while the room is full; returns whether there
   * is room.
   */
  clear(mayGo: (one: Waiting) => boolean): boolean;
}

function createRoom(most: number): Room {
  // Oldest first.
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
