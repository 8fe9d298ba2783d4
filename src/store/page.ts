// One page of a list, newest first.

export interface PageInput {
  limit: number;
  /** Where the page before ended, as its `next` said. */
  after: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** Present while there may be more, even when this page is short. */
  next: string | undefined;
}
