// Reads of what sending needs to know of callbacks. Those that are asked for in one turn are read together: of a
// fan-out to 100,000 each is another one, and was a message to the store and back. A read that a change of its
// subscription has overtaken is made again, so nobody gets an old answer.
import type { World } from '../core/world.ts';
import { StoreUnavailable, type Store } from '../store/store.ts';
import type { KnownTarget } from './prepared.ts';

export interface Look {
  target: KnownTarget | undefined;
  /** By `elapsedMs`: the read that says so began no earlier. */
  readMs: number;
}

export type Found = Look & { target: KnownTarget };

/** Callbacks that are read together. */
export interface Reading {
  /** By `elapsedMs`: the read began no earlier. */
  readonly beganMs: number;
  readonly callbacks: Set<number>;
  /** What was read of each; nothing of one whose subscription has changed meanwhile. */
  readonly looks: Promise<ReadonlyMap<number, Look>>;
}

export interface TargetReadsMeans {
  store: Pick<Store, 'read'>;
  world: Pick<World, 'elapsedMs'>;
  /** Called in the very turn in which a target was read and found unchanged. */
  onFound: (found: Found) => void;
}

export class TargetReads {
  readonly #means: TargetReadsMeans;
  /** By callback: the last one that was begun, while it is under way. */
  readonly #underWay = new Map<number, Reading>();
  /** For each read under way: the subscriptions that changed since it began. */
  readonly #watches = new Set<Set<string>>();
  /** Whoever asks in this turn joins it. */
  #next: Reading | undefined;

  constructor(means: TargetReadsMeans) {
    this.#means = means;
  }

  underWay(callback: number): Reading | undefined {
    return this.#underWay.get(callback);
  }

  begin(callback: number): Reading {
    this.#next ??= this.#reading(new Set());
    this.#next.callbacks.add(callback);
    this.#underWay.set(callback, this.#next);
    return this.#next;
  }

  /** What a reading brings for one of its callbacks; after a change, what a later one brings. */
  async look(callback: number, first: Reading): Promise<Look> {
    let reading = first;
    for (;;) {
      try {
        const look = (await reading.looks).get(callback);
        if (look !== undefined) return look;
        reading = this.begin(callback);
      } catch (error) {
        if (reading.callbacks.size === 1 || error instanceof StoreUnavailable) throw error;
        // One of them cannot be read, which must not hold the others.
        reading = this.#underWay.get(callback) ?? this.#beginAlone(callback);
      }
    }
  }

  /** What is read of the subscription now may be old when it comes. */
  changed(subscription: string): void {
    for (const changed of this.#watches) changed.add(subscription);
  }

  #beginAlone(callback: number): Reading {
    const reading = this.#reading(new Set([callback]));
    this.#underWay.set(callback, reading);
    return reading;
  }

  #reading(callbacks: Set<number>): Reading {
    const beganMs = this.#means.world.elapsedMs();
    return { beganMs, callbacks, looks: this.#read(callbacks, beganMs) };
  }

  async #read(callbacks: ReadonlySet<number>, readMs: number): Promise<Map<number, Look>> {
    const changed = new Set<string>();
    this.#watches.add(changed);
    try {
      await Promise.resolve(); // Until everybody of this turn has asked.
      if (this.#next?.callbacks === callbacks) this.#next = undefined;
      const targets = await this.#means.store.read('targets', { callbacks: [...callbacks] });
      const nothing = { target: undefined, readMs };
      const looks = new Map<number, Look>();
      for (const callback of callbacks) looks.set(callback, nothing);
      for (const target of targets) {
        if (changed.has(target.subscription)) {
          looks.delete(target.callback);
          continue;
        }
        const found = { target, readMs };
        looks.set(target.callback, found);
        this.#means.onFound(found);
      }
      return looks;
    } finally {
      this.#watches.delete(changed);
      for (const callback of callbacks) {
        const isLast = this.#underWay.get(callback)?.callbacks === callbacks;
        if (isLast) this.#underWay.delete(callback);
      }
    }
  }
}
