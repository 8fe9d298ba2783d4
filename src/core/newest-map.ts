// A map that keeps the newest entries only.

/**
 * What was set first goes first; to set it again makes it no newer. To look for the first key anew each time is
 * slow: V8 keeps the places of deleted entries until the table is full, and walks past all of them. With 10,000
 * entries that took 32 µs for each new one; an iterator that stays knows where it was.
 */
export class NewestMap<K, V> extends Map<K, V> {
  readonly #most: number;
  readonly #oldest = this.keys();

  constructor(most: number) {
    super();
    this.#most = most;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    if (this.size <= this.#most) return this;
    const { value: oldest, done } = this.#oldest.next();
    if (done !== true) this.delete(oldest);
    return this;
  }
}
