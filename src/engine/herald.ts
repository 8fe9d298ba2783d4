// The herald publishes Ringback's own events: it takes what was noticed from the store, oldest first, and
// makes an event of each in the transaction in which the notice goes; so a crash neither loses nor doubles
// one. It decides nothing: whether anybody listens was asked when the notice was written.
import { never } from '../core/lane.ts';
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import type { WaitingNotice } from '../store/notice-verbs.ts';
import type { Store } from '../store/store.ts';
import type { Changes } from './changes.ts';

export interface HeraldMeans {
  world: Pick<World, 'sleep'>;
  store: Pick<Store, 'edit' | 'read' | 'nowMs' | 'pollMs' | 'isShared'>;
  newId: () => string;
  changes: Pick<Changes, 'published'>;
  onError: (error: unknown) => void;
}

export class Herald {
  readonly #means: HeraldMeans;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  /** There may be something that was noticed here, which no other node publishes yet. */
  #isOurs = true;

  constructor(means: HeraldMeans) {
    this.#means = means;
    this.#done = this.#tellOn();
  }

  /** Something was noticed on this node. */
  wake(): void {
    this.#isOurs = true;
    this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #tellOn(): Promise<void> {
    const { world, store, onError } = this.#means;
    const { signal } = this.#stop;
    const pollMs = store.isShared ? limits.noticePollMs : store.pollMs;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const woken = this.#wake.signal;
      const restMs = await this.#round().then(
        (told) => (told > 0 ? 0 : pollMs),
        (error: unknown) => {
          onError(error);
          this.#isOurs = true; // What was noticed here is still there, perhaps.
          return limits.noticeAgainMs;
        },
      );
      if (restMs === 0) continue;
      const either = AbortSignal.any([signal, woken]);
      await world.sleep(restMs, either).catch(() => undefined); // Woken or stopped.
    }
  }

  /**
   * How many it has published. Among several nodes the author of a notice publishes it at once; others
   * look for what he left behind.
   */
  async #round(): Promise<number> {
    const { store } = this.#means;
    const isAll = this.#isOurs || !store.isShared;
    this.#isOurs = false;
    const writtenByMs = isAll ? never : store.nowMs() - limits.noticePatienceMs;
    const notices = await store.read('notices', { writtenByMs, limit: limits.noticesAtOnce });
    // What fails stays where it is, and the others do not wait for it.
    const results = await Promise.allSettled(notices.map(async (one) => this.#publish(one)));
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    if (notices.length === limits.noticesAtOnce) this.#isOurs ||= isAll;
    return notices.length;
  }

  /** `taken`: another node was faster, which is just as well. */
  async #publish({ no, appNo, name, payload }: WaitingNotice): Promise<void> {
    const { store, newId, changes } = this.#means;
    const result = await store.edit('publish', {
      appNo,
      contract: '',
      events: [{ id: newId(), name, payload: Buffer.from(payload) }],
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
