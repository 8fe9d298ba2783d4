// One page of a list, as every list of the service answers.

export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null on the last one. A short page may still have a next one. */
  readonly nextCursor: string | null;
}
