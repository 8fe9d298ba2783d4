// One page of a list, as returned by every list operation.

export interface Page<T> {
  readonly items: readonly T[];
  /** Cursor of the next page; null on the last one. A short page can still have a next one. */
  readonly nextCursor: string | null;
}
