// Lets one large publish begin in each turn of the event loop, the apps in turn. Reading a batch takes the main thread
// for milliseconds, so that several in one turn would hold up everything else that the turn has to do.
import { atEndOfTurn } from '../../core/base/end-of-turn.ts';
import { FairQueue, type AppNo } from '../../core/load/fair-queue.ts';

export class BatchTurns {
  /** Calls back at the end of this turn of the event loop. */
  readonly #atEnd: (body: () => void) => void;
  readonly #queue = new FairQueue<() => void>();
  /** One has begun in this turn. */
  #isTaken = false;

  constructor(atEnd: (body: () => void) => void = atEndOfTurn) {
    this.#atEnd = atEnd;
  }

  /** Calls `begin` once: now, or when its turn comes. The result takes it out of the queue. */
  wait(appNo: AppNo, begin: () => void): () => void {
    if (this.#isTaken) {
      this.#queue.add(appNo, begin);
      return () => this.#queue.remove(appNo, begin);
    }
    this.#start(begin);
    return () => undefined;
  }

  #start(begin: () => void): void {
    this.#isTaken = true;
    this.#atEnd(() => {
      this.#isTaken = false;
      const next = this.#queue.take(() => true);
      if (next !== undefined) this.#start(next.item);
    });
    begin();
  }
}
