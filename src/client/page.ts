// One page of a list, the shape of every list answer of the service.

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null on the last one. A short page may still have a next one. */
  readonly nextCursor: string | null;
}
