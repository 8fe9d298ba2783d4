// A list that items enter at the end and leave from anywhere. A Set can do that too, but in V8 each
// of its outgrown tables keeps the next one and all its items alive until a full collection. On the
// path of every request that made garbage collection several times as expensive.

/** An item holds its own links, and is in at most one list. */
export interface Link<T> {
  before: T | undefined;
  after: T | undefined;
}

export class LinkedList<T extends Link<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** The item must not be in a list. */
  add(item: T): void {
    item.before = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.after = item;
    this.#last = item;
    this.#size += 1;
  }

  /** Returns whether the item was in the list. */
  remove(item: T): boolean {
    const { before, after } = item;
    if (before === undefined && this.#first !== item) return false;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    item.before = undefined;
    item.after = undefined;
    this.#size -= 1;
    return true;
  }
}
