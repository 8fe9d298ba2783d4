// Cursors of lists: the number of the last row examined, as text. To callers they are opaque.

/** Whether a text from outside can be a cursor; the store takes only such ones. */
export function isCursor(cursor: string): boolean {
  return /^[1-9][0-9]{0,14}$/.test(cursor);
}

export function cursorAt(no: number): string {
  return String(no);
}

/** Where to go on, newest first: rows below this number. */
export function belowCursor(cursor: string | undefined): number {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER;
  if (!isCursor(cursor)) {
    throw new TypeError(`Cannot go on after "${cursor}": expected what a page gave as next`);
  }
  return Number(cursor);
}
