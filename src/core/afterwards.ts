/**
 * Runs it once all that was asked in this turn has left. Packets to a store leave on a tick, when nothing more
 * can join them; the second tick from now comes after it. So whoever hands out the answers of one batch lets
 * the next one go first, and the store is at work meanwhile.
 */
export function afterwards(body: () => void): void {
  process.nextTick(() => process.nextTick(body));
}
