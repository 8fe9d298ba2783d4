// When the answers of a batch are handed out: deliveries begin then, and edits resolve.

export type HandOut = (body: () => void) => void;

export function atOnce(body: () => void): void {
  body();
}

/**
 * Once all that was asked in this turn has left. Packets leave on a tick, when nothing more can join them; the
 * second tick from now comes after it. So the next batch goes before the answers of the one before, and the
 * database is at work meanwhile. Measured with 64 publishers, old and new in turns: 1.11 times as many events
 * on PostgreSQL in three runs of 8 to 14 rounds, none more in a fourth. On SQLite, whose thread has the next
 * batch at hand, 0.95 and 0.96 in two of three: there it is done at once.
 */
export function afterwards(body: () => void): void {
  process.nextTick(() => process.nextTick(body));
}
