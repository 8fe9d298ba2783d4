// Publishes Ringback's own events. It reads notices from the store, oldest first, and
// publishes an event for each in the transaction that deletes the notice, so that a crash neither
// loses nor duplicates one. It decides nothing: a notice is written only if a subscription matches
// it.
import type { World } from '../../core/base/world.ts';
import { never } from '../../core/domain/lane.ts';
import { limits } from '../../core/limits/limits.ts';
import type { WaitingNotice } from '../../store/port/delivery-verbs.ts';
import type { Store } from '../../store/port/store.ts';
import type { Changes } from '../live/changes.ts';

export interface SystemEventsDeps {
  world: Pick<World, 'sleep'>;
  store: Pick<Store, 'edit' | 'read' | 'nowMs' | 'pollMs' | 'isShared'>;
  newId: () => string;
  changes: Pick<Changes, 'published'>;
  onError: (error: unknown) => void;
}

export class SystemEvents {
  readonly #deps: SystemEventsDeps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  /** This node may have written notices, which no other node publishes yet. */
  #isOurs = true;

  constructor(deps: SystemEventsDeps) {
    this.#deps = deps;
    this.#done = this.#runLoop();
  }

  /** A notice was written on this node. */
  wake(): void {
    this.#isOurs = true;
    this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #runLoop(): Promise<void> {
    const { world, store, onError } = this.#deps;
    const { signal } = this.#stop;
    const pollMs = store.isShared ? limits.noticePollMs : store.pollMs;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const woken = this.#wake.signal;
      const restMs = await this.#round().then(
        (sent) => (sent > 0 ? 0 : pollMs),
        (error: unknown) => {
          onError(error);
          this.#isOurs = true; // Notices of this node may still be unpublished.
          return limits.noticeAgainMs;
        },
      );
      if (restMs === 0) continue;
      const either = AbortSignal.any([signal, woken]);
      await world.sleep(restMs, either).catch(() => undefined); // Woken or stopped.
    }
  }

  /**
   * Returns how many notices it found. Of several nodes, the one that wrote a notice publishes it
   * at once; the others only look for notices that stayed behind.
   */
  async #round(): Promise<number> {
    const { store } = this.#deps;
    const isAll = this.#isOurs || !store.isShared;
    this.#isOurs = false;
    const writtenByMs = isAll ? never : store.nowMs() - limits.noticePatienceMs;
    const notices = await store.read('notices', { writtenByMs, limit: limits.noticesAtOnce });
    // A notice that fails stays in the store and does not hold up the others.
    const results = await Promise.allSettled(notices.map(async (one) => this.#publish(one)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    if (notices.length === limits.noticesAtOnce) this.#isOurs ||= isAll;
    return notices.length;
  }

  /** `taken`: another node has published it, which is fine. */
  async #publish({ no, appNo, name, customer, payload }: WaitingNotice): Promise<void> {
    const { store, newId, changes } = this.#deps;
    const result = await store.edit('publish', {
      appNo,
      contract: '',
      events: [{ id: newId(), name, customer, payload: Buffer.from(payload) }],
      audience: { kind: 'everyone' },
      idempotency: undefined,
      notice: no,
    });
    if (result.kind === 'accepted') changes.published(appNo, result.events);
    else if (result.kind !== 'taken') {
      throw new Error(`Cannot publish notice ${no}: the store returned "${result.kind}"`);
    }
  }
}
