// Requests that start in the same turn are all built before the first is written. Written back to
// back, they cost less than when each write follows the signing of its own request.

/** A connection with a request that is ready to start. */
export interface Starter {
  /** Builds the request. */
  build(): void;
  /** Writes what `build` made, if it is still wanted. */
  write(): void;
}

export class StartQueue {
  #starters: Starter[] = [];

  /** Starts it later in this turn. */
  add(starter: Starter): void {
    if (this.#starters.push(starter) === 1) queueMicrotask(() => this.#start());
  }

  #start(): void {
    const starters = this.#starters;
    this.#starters = [];
    for (const starter of starters) starter.build();
    for (const starter of starters) starter.write();
  }
}
