// A binary heap: the smallest item is always first.

export class Heap<T> {
  readonly #items: T[] = [];
  readonly #compare: (a: T, b: T) => number;

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = items[up];
      if (above === undefined || this.#compare(above, item) <= 0) break;
      items[at] = above;
      at = up;
    }
    items[at] = item;
  }

  take(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      const left = items[child];
      if (left === undefined) break;
      let least = left;
      const right = items[child + 1];
      if (right !== undefined && this.#compare(right, left) < 0) {
        child += 1;
        least = right;
      }
      if (this.#compare(last, least) <= 0) break;
      items[at] = least;
      at = child;
    }
    items[at] = last;
    return first;
  }
}
