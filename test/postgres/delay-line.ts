// One direction of a slow line: what enters leaves after the delay, in order. Everything waits at the same time, so the
// line takes any rate and only makes it late. Time is a parameter: the thread has timers, a test has none.

export interface DelayLine<T> {
  enter(piece: T, nowMs: number): void;
  /** What is due by then, in the order in which it came. */
  leave(nowMs: number): T[];
  /** When the next piece is due; undefined: nothing is on the line. */
  dueMs(): number | undefined;
}

export function createDelayLine<T>(delayMs: number): DelayLine<T> {
  const pieces: { piece: T; dueMs: number }[] = [];
  return {
    enter: (piece, nowMs) => void pieces.push({ piece, dueMs: nowMs + delayMs }),
    leave: (nowMs) => {
      const end = pieces.findIndex(({ dueMs }) => dueMs > nowMs);
      return pieces.splice(0, end === -1 ? pieces.length : end).map(({ piece }) => piece);
    },
    dueMs: () => pieces[0]?.dueMs,
  };
}
