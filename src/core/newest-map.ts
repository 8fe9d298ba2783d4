// A map that keeps the newest entries only.

/**
 * What was set first goes first; to set it again makes it no newer. To look for the first key anew each time is
 * slow: V8 keeps the places of deleted entries until the table is full, and walks past all of them. With 10,000
 * entries that took 32 µs for each new one; an iterator that stays knows where it was. But one that is not moved
 * holds every table that the map has outgrown since, so it does not stay for long.
 */
export class NewestMap<K, V> extends Map<K, V> {
  readonly #most: number;
  readonly #onDropped: (key: K, value: V) => void;
  #oldest: MapIterator<K> | undefined;
  /** Entries that were set since it was moved. */
  #setSince = 0;

  /** `onDropped` is told of each that goes because there are too many. */
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
