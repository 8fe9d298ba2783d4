// One page of a list, newest first.

export interface PageInput {
  limit: number;
  /** The `next` of the previous page. */
  after: string | undefined;
}

export interface Page<T> {
  items: T[];
  /** Set while there may be more, even if this page is short. */
  next: string | undefined;
}
