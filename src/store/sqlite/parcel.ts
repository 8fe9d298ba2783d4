// What goes to a thread and back, as one flat list. The structured clone of V8 writes the names of all members of
// every object, and looks each object up among all before it; a view ships its whole underlying memory, often a
// pool or a request's body. So the members of what comes often stand in the list one by one, in an order that
// both sides know, and bytes lie in one buffer, which changes hands without a copy on the way to the writer.
//
// Measured (60 of each in a message, CPU of both sides): a publish 1.3 µs instead of 10, its answer 0.7 instead
// of 7.7, an outcome 3 instead of 15, and its answer 0.2 instead of 2.8. With a list for each object, instead of
// one for all: 3.7, 2.2 and 9. By a packer that knows no types and writes each set of names once: 5.7, 5.2, 10.

export interface Parcel {
  readonly list: readonly unknown[];
  readonly bytes: ArrayBuffer;
}

export class Packing {
  /** Whatever the clone takes; what it takes well: texts, numbers, undefined. */
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

  /** What was put there, and so of the type that was put there. */
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

  /** As many as were counted before. */
  nextFew<T>(read: () => T): T[] {
    const items: T[] = [];
    for (let left = this.next<number>(); left > 0; left -= 1) items.push(read());
    return items;
  }
}
