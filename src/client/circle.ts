// Notices when a list leads back to where it was: a service that does so would be asked for ever.

/**
 * Whether a cursor was there before. It remembers one of them, and a later one at twice the distance each
 * time (Brent): a circle of any size is found within three rounds, and a long list costs no memory.
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
