// One direction of a slow line: each piece leaves after the delay, in order. Pieces wait concurrently, so the line
// adds latency without limiting the rate. Time is a parameter: the thread has timers, a test has none.

export interface DelayLine<T> {
  enter(piece: T, nowMs: number): void;
  /** The pieces that are due, in order. */
  leave(nowMs: number): T[];
  /** When the next piece is due; undefined if the line is empty. */
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
