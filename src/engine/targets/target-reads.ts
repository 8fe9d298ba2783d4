// Batches reads of targets: those requested in one turn of the event loop are read together,
// because a fan-out to 100,000 requests each once, and each would be a message to the store and
// back. A read that was overtaken by a change of its subscription is repeated, so that no caller
// gets an outdated answer.
import type { World } from '../../core/base/world.ts';
import { StoreUnavailable, type Store } from '../../store/port/store.ts';
import type { KnownTarget } from './prepared-target.ts';

export interface TargetSnapshot {
  target: KnownTarget | undefined;
  /** By `elapsedMs`: the read began no earlier. */
  readMs: number;
}

export type FoundTarget = TargetSnapshot & { target: KnownTarget };

/** Callbacks that are read together. */
export interface TargetBatchRead {
  /** By `elapsedMs`: the read began no earlier. */
  readonly beganMs: number;
  readonly callbacks: Set<number>;
  /** The results; a callback is missing if its subscription changed during the read. */
  readonly results: Promise<ReadonlyMap<number, TargetSnapshot>>;
}

export interface TargetReadsDeps {
  store: Pick<Store, 'read'>;
  world: Pick<World, 'elapsedMs'>;
  /** Called in the turn in which a target was read and found unchanged. */
  onFound: (found: FoundTarget) => void;
}

export class TargetReads {
  readonly #deps: TargetReadsDeps;
  /** By callback: the latest read in flight. */
  readonly #inFlight = new Map<number, TargetBatchRead>();
  /** For each read in flight: the subscriptions that changed since it began. */
  readonly #changedDuringReads = new Set<Set<string>>();
  /** Requests of this turn join it. */
  #next: TargetBatchRead | undefined;

  constructor(deps: TargetReadsDeps) {
    this.#deps = deps;
  }

  inFlight(callback: number): TargetBatchRead | undefined {
    return this.#inFlight.get(callback);
  }

  begin(callback: number): TargetBatchRead {
    this.#next ??= this.#startRead(new Set());
    this.#next.callbacks.add(callback);
    this.#inFlight.set(callback, this.#next);
    return this.#next;
  }

  /**
   * The result of a read for one of its callbacks; if the subscription changed meanwhile, of a
   * later read.
   */
  async read(callback: number, first: TargetBatchRead): Promise<TargetSnapshot> {
    let reading = first;
    for (;;) {
      try {
        const look = (await reading.results).get(callback);
        if (look !== undefined) return look;
        reading = this.begin(callback);
      } catch (error) {
        if (reading.callbacks.size === 1 || error instanceof StoreUnavailable) throw error;
        // One of the targets cannot be read, which must not affect the others.
        reading = this.#inFlight.get(callback) ?? this.#beginAlone(callback);
      }
    }
  }

  /** Reads of the subscription in flight may return its old state. */
  changed(subscription: string): void {
    for (const changed of this.#changedDuringReads) changed.add(subscription);
  }

  #beginAlone(callback: number): TargetBatchRead {
    const reading = this.#startRead(new Set([callback]));
    this.#inFlight.set(callback, reading);
    return reading;
  }

  #startRead(callbacks: Set<number>): TargetBatchRead {
    const beganMs = this.#deps.world.elapsedMs();
    return { beganMs, callbacks, results: this.#read(callbacks, beganMs) };
  }

  async #read(
    callbacks: ReadonlySet<number>,
    readMs: number,
  ): Promise<Map<number, TargetSnapshot>> {
    const changed = new Set<string>();
    this.#changedDuringReads.add(changed);
    try {
      await Promise.resolve(); // Until all requests of this turn have joined.
      if (this.#next?.callbacks === callbacks) this.#next = undefined;
      const targets = await this.#deps.store.read('targets', { callbacks: [...callbacks] });
      const nothing = { target: undefined, readMs };
      const looks = new Map<number, TargetSnapshot>();
      for (const callback of callbacks) looks.set(callback, nothing);
      for (const target of targets) {
        if (changed.has(target.subscription)) {
          looks.delete(target.callback);
          continue;
        }
        const found = { target, readMs };
        looks.set(target.callback, found);
        this.#deps.onFound(found);
      }
      return looks;
    } finally {
      this.#changedDuringReads.delete(changed);
      for (const callback of callbacks) {
        const isLast = this.#inFlight.get(callback)?.callbacks === callbacks;
        if (isLast) this.#inFlight.delete(callback);
      }
    }
  }
}
