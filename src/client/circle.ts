// Detects a list that leads back to an earlier page, so that walking it cannot go on forever.

/**
 * Whether a cursor was seen before. It remembers one cursor, and replaces it at intervals that double each
 * time (Brent's algorithm): a cycle of any size is found within three rounds, in constant memory.
 */
export function circleFinder(): (cursor: string) => boolean {
  let kept: string | undefined;
  let steps = 0;
  let distance = 1;
  return (cursor) => {
    if (cursor === kept) return true;
    steps += 1;
    if (steps === distance) [kept, steps, distance] = [cursor, 0, distance * 2];
    return false;
  };
}
