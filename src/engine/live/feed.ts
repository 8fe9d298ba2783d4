// The feed: every node writes down what changed on it, a few times a second, for apps that are
// watched through any node. A running node loses nothing; one that begins to record an app says so
// first, which makes clients reload everything.
import { writeDigest } from '../../core/domain/change-digest.ts';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import type { EditInput, Store } from '../../store/port/store.ts';
import type { Journal } from './journal.ts';

export interface FeedDeps {
  world: World;
  store: Pick<Store, 'edit' | 'read' | 'nowMs' | 'isShared'>;
  journal: Journal;
  /** This node. */
  self: { no(): number };
  onError: (error: unknown) => void;
}

/**
 * Rows go through the store even with a single node: four small rows a second cost little
 * (bench/parts/live-view-cost.ts), and all nodes read them the same way.
 */
export class Feed {
  readonly #deps: FeedDeps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  /**
   * Apps watched through this node; apps that were until recently; apps watched through other
   * nodes.
   */
  readonly #watchedHere = new Set<number>();
  readonly #watchedUntilMs = new Map<number, number>();
  #watchedElsewhere: ReadonlySet<number> = new Set();
  #watchedReadMs = -Infinity;
  #renewedMs = -Infinity;
  #seq = 0;
  #writing: Promise<unknown> = Promise.resolve();
  /** Sent to the store, not confirmed yet. */
  #unwritten: EditInput<'appendFeed'> | undefined;
  #onWritten: (appNo: number) => void = () => undefined;

  constructor(deps: FeedDeps) {
    this.#deps = deps;
    deps.journal.whenNoted(() => this.#wake.abort());
    this.#done = this.#run();
  }

  /** `act` is called when this node has written changes of an app. */
  whenWritten(act: (appNo: number) => void): void {
    this.#onWritten = act;
  }

  /**
   * Once it resolves, every change on this node goes to the feed; those of other nodes follow
   * within a second.
   */
  async watch(appNo: number): Promise<void> {
    const { journal, store } = this.#deps;
    this.#watchedHere.add(appNo);
    journal.begin(appNo);
    await Promise.all([this.#write(), store.isShared ? this.#renew([appNo]) : undefined]);
  }

  /**
   * Changes are still recorded for a while, because a client may reconnect and ask for what it
   * missed.
   */
  unwatch(appNo: number): void {
    this.#watchedHere.delete(appNo);
    this.#watchedUntilMs.set(appNo, this.#deps.world.monotonicMs() + limits.watchLeaseMs);
  }

  /** Writes what was recorded last, if the store answers. */
  async [Symbol.asyncDispose](): Promise<void> {
    const { world, onError } = this.#deps;
    this.#stop.abort();
    const written = this.#done.then(async () => this.#write()).catch(onError);
    const patience = new AbortController();
    const enough = world.sleep(limits.storeAnswerMs, patience.signal).catch(() => undefined);
    await Promise.race([written, enough]);
    patience.abort();
  }

  async #run(): Promise<void> {
    const { world, store, journal } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const restMs = await this.#round();
      if (restMs > 0) await world.sleep(restMs, signal).catch(() => undefined); // Stopped.
      if (restMs > 0 || journal.isNoted()) continue;
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const idleMs = store.isShared ? limits.watchLookMs : limits.watchLeaseMs;
      await world.sleep(idleMs, either).catch(() => undefined); // Stopped, or something changed.
    }
  }

  /** Returns how long to wait before the next write. */
  async #round(): Promise<number> {
    const { world, store, journal, onError } = this.#deps;
    const nowMs = world.monotonicMs();
    try {
      if (store.isShared && nowMs - this.#watchedReadMs >= limits.watchLookMs)
        await this.#readWatched(nowMs);
      if (store.isShared && nowMs - this.#renewedMs >= limits.watchRenewMs) {
        this.#renewedMs = nowMs;
        await this.#renew([...this.#watchedHere]);
      }
      this.#endUnwatched(nowMs);
      if (!journal.isNoted() && this.#unwritten === undefined) return 0;
      await this.#write();
      return limits.frameEveryMs;
    } catch (error) {
      onError(error);
      return limits.streamAgainMs;
    }
  }

  /** Reads which apps are watched through other nodes. */
  async #readWatched(nowMs: number): Promise<void> {
    const { store, journal } = this.#deps;
    this.#watchedReadMs = nowMs;
    this.#watchedElsewhere = new Set(await store.read('watched', { nowMs: store.nowMs() }));
    for (const appNo of this.#watchedElsewhere) journal.begin(appNo);
  }

  async #renew(apps: readonly number[]): Promise<void> {
    const { store, self } = this.#deps;
    const untilMs = store.nowMs() + limits.watchLeaseMs;
    for (let at = 0; at < apps.length; at += limits.feedAppsAtOnce) {
      const some = apps.slice(at, at + limits.feedAppsAtOnce);
      await store.edit('watch', { node: self.no(), apps: some, untilMs });
    }
  }

  /** Stops recording apps that no client watches any more. */
  #endUnwatched(nowMs: number): void {
    const { journal } = this.#deps;
    for (const [appNo, untilMs] of this.#watchedUntilMs) {
      if (untilMs <= nowMs) this.#watchedUntilMs.delete(appNo);
    }
    for (const appNo of journal.apps()) {
      const isWatched = this.#watchedHere.has(appNo) || this.#watchedUntilMs.has(appNo);
      if (!isWatched && !this.#watchedElsewhere.has(appNo)) journal.end(appNo);
    }
  }

  /** Serially: the rows of a node must become visible in order. */
  async #write(): Promise<void> {
    const before = this.#writing.catch(() => undefined); // Its caller has handled the error.
    const written = before.then(async () => this.#writeNoted());
    this.#writing = written;
    return written;
  }

  async #writeNoted(): Promise<void> {
    // Repeated unchanged: the rows may have been written and only the answer lost.
    if (this.#unwritten !== undefined) await this.#append(this.#unwritten);
    const taken = this.#deps.journal.take(limits.feedAppsAtOnce);
    if (taken.length === 0) return;
    const rows = taken.map(({ appNo, digest }) => {
      this.#seq += 1;
      return { appNo, seq: this.#seq, digest: writeDigest(digest) };
    });
    await this.#append({ node: this.#deps.self.no(), rows });
  }

  async #append(input: EditInput<'appendFeed'>): Promise<void> {
    this.#unwritten = input;
    await this.#deps.store.edit('appendFeed', input);
    this.#unwritten = undefined;
    for (const { appNo } of input.rows) this.#onWritten(appNo);
  }
}
