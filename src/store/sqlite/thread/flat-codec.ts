// Messages to and from a thread, as one flat list. V8's structured clone writes the member names of
// every object and searches all earlier objects for each; and a view ships its whole underlying
// memory, often a pool or a request's body. So members of frequent objects are put into the list
// one by one, in an order that both sides know, and bytes go into one buffer, which is transferred
// to the writer without a copy. That is about ten times as fast as cloning objects, and several
// times as fast as a list per object or a generic packer: docs/performance.md.

export interface Parcel {
  readonly list: readonly unknown[];
  readonly bytes: ArrayBuffer;
}

export class Packing {
  /** Anything that can be cloned; strings, numbers and undefined are the fastest. */
  readonly list: unknown[] = [];
  readonly #views: Uint8Array[] = [];
  #size = 0;

  addBytes(view: Uint8Array): void {
    this.list.push(this.#size, view.byteLength);
    this.#views.push(view);
    this.#size += view.byteLength;
  }

  parcel(): Parcel {
    const bytes = new ArrayBuffer(this.#size);
    const whole = new Uint8Array(bytes);
    let at = 0;
    for (const view of this.#views) {
      whole.set(view, at);
      at += view.byteLength;
    }
    return { list: this.list, bytes };
  }
}

export class Unpacking {
  readonly #list: readonly unknown[];
  readonly #bytes: ArrayBuffer;
  #at = 0;

  constructor({ list, bytes }: Parcel) {
    this.#list = list;
    this.#bytes = bytes;
  }

  /** Returns what was packed at this place; the caller must name the same type. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is what an assertion is
  next<T>(): T {
    const item = this.#list[this.#at];
    this.#at += 1;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place; both sides are in one file
    return item as T;
  }

  nextBytes(): Uint8Array {
    const at = this.next<number>();
    return new Uint8Array(this.#bytes, at, this.next<number>());
  }

  /** Reads a count, then as many items. */
  nextFew<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.next<number>(); left > 0; left -= 1) items.push(read());
    return items;
  }
}
