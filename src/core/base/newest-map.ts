// A bounded map that drops its oldest entries.

/**
 * Drops entries in the order in which they were first set; setting one again does not make it
 * newer. Finding the first key with a new iterator each time is slow: V8 keeps the slots of deleted
 * entries until the table is full, and walks past them. A persistent iterator remembers its place.
 * But an iterator that is not moved keeps every table alive that the map has outgrown since, so it
 * is dropped after a while.
 */
export class NewestMap<K, V> extends Map<K, V> {
  readonly #most: number;
  readonly #onDropped: (key: K, value: V) => void;
  #oldest: MapIterator<K> | undefined;
  /** Entries set since the iterator last moved. */
  #setSince = 0;

  /** `onDropped` is called for each entry that is dropped because the map is full. */
  constructor(most: number, onDropped: (key: K, value: V) => void = () => undefined) {
    super();
    this.#most = most;
    this.#onDropped = onDropped;
  }

  override set(key: K, value: V): this {
    super.set(key, value);
    if (this.size > this.#most) this.#dropOldest();
    else if (this.#setSince < this.#most) this.#setSince += 1;
    else this.#oldest = undefined;
    return this;
  }

  #dropOldest(): void {
    this.#setSince = 0;
    this.#oldest ??= this.keys();
    const { value: oldest, done } = this.#oldest.next();
    if (done === true) return;
    const value = this.get(oldest);
    this.delete(oldest);
    if (value !== undefined) this.#onDropped(oldest, value);
  }
}
