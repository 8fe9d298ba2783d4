// A queue of calls from several apps for one resource, served in turn: one call of each app, then
// the next of each. A backlog of one app delays the others by one of its calls at a time, however
// long it is.

/** Undefined: a call of the service itself. */
export type AppNo = number | undefined;

export class FairQueue<T> {
  /** In the order of their turns. */
  readonly #byApp = new Map<AppNo, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(app: AppNo, item: T): void {
    const waiting = this.#byApp.get(app);
    if (waiting === undefined) this.#byApp.set(app, [item]);
    else waiting.push(item);
    this.#size += 1;
  }

  /** Removes an item that was added for the app and not taken. */
  remove(app: AppNo, item: T): void {
    const waiting = this.#byApp.get(app);
    const at = waiting?.indexOf(item) ?? -1;
    if (waiting === undefined || at < 0) return;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#byApp.delete(app);
    this.#size -= 1;
  }

  /** Moves the app behind all that wait now, because it has just had a turn. */
  letOthersFirst(app: AppNo): void {
    const waiting = this.#byApp.get(app);
    if (waiting === undefined) return;
    this.#byApp.delete(app);
    this.#byApp.set(app, waiting);
  }

  /** Takes an item of the first eligible app, which then goes to the end. */
  take(mayHave: (app: AppNo) => boolean): { app: AppNo; item: T } | undefined {
    for (const [app, waiting] of this.#byApp) {
      if (!mayHave(app)) continue;
      const [item] = waiting.splice(0, 1);
      this.#byApp.delete(app);
      if (waiting.length > 0) this.#byApp.set(app, waiting);
      if (item === undefined) continue;
      this.#size -= 1;
      return { app, item };
    }
    return undefined;
  }
}
