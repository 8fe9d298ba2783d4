// The replayer advances running replays step by step: it reads which deliveries the next step
// covers, and has the store make them due. It never takes more than half of the store's time, and
// holds no state that a crash could lose. Every node has one; the store lets only one of them take
// each step.
import { limits } from '../../core/limits/limits.ts';
import { dueStepMs, stepMax, type Replay } from '../../core/domain/replay.ts';
import type { World } from '../../core/base/world.ts';
import { VerbFailed, type Store } from '../../store/port/store.ts';
import type { Changes } from '../live/changes.ts';

export interface ReplayerDeps {
  world: Pick<World, 'monotonicMs' | 'sleep'>;
  store: Pick<Store, 'edit' | 'read' | 'nowMs' | 'pollMs' | 'isShared'>;
  changes: Pick<Changes, 'replay'>;
  /** This node took the last step. */
  onDone: (done: FinishedReplay) => void;
  onError: (error: unknown) => void;
}

export interface FinishedReplay {
  replay: string;
  matched: number;
  replayed: number;
  skipped: number;
}

/** What a node knows about a running replay beside its row. */
interface RunningReplay {
  /**
   * This node took the last step; the others wait a while, so that nodes do not duplicate the work.
   */
  isMine: boolean;
  /** Monotonic: no step before this time, because the last one failed. */
  notBeforeMs: number;
}

export class Replayer {
  readonly #deps: ReplayerDeps;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;
  #wake = new AbortController();
  /** Of the replays that were running at the last look. */
  #standings = new Map<string, RunningReplay>();

  constructor(deps: ReplayerDeps) {
    this.#deps = deps;
    this.#done = this.#runLoop();
  }

  /** A replay was started. */
  wake(): void {
    this.#wake.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  async #runLoop(): Promise<void> {
    const { world, onError } = this.#deps;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      const either = AbortSignal.any([signal, this.#wake.signal]);
      const restMs = await this.#round().catch((error: unknown) => {
        onError(error);
        return limits.replayStoreAgainMs;
      });
      await world.sleep(restMs, either).catch(() => undefined); // Woken or stopped.
    }
  }

  /** Takes at most one step; returns how long to rest after it. */
  async #round(): Promise<number> {
    const { world, store } = this.#deps;
    const beganMs = world.monotonicMs();
    const limit = limits.replaysReadAtOnce;
    const running = await store.read('runningReplays', { limit });
    this.#remember(running);
    const nowMs = store.nowMs();
    const dueMs = (replay: Replay): number => this.#dueMs(replay, nowMs);
    const [first] = running.toSorted((a, b) => dueMs(a) - dueMs(b));
    const pollMs = store.isShared ? limits.replayPollMs : store.pollMs;
    if (first === undefined) return pollMs;
    const waitMs = dueMs(first) - nowMs;
    if (waitMs > 0) return Math.min(Math.ceil(waitMs), pollMs);
    await this.#step(first);
    // A step queues behind other writes, so under load the rest is longer.
    return world.monotonicMs() - beganMs;
  }

  async #step(replay: Replay): Promise<void> {
    const { world, store, onError } = this.#deps;
    const { id, appNo, filter, cursor, lastEvent, createdMs: endedByMs } = replay;
    const limit = stepMax(replay.ratePerSecond);
    try {
      const walk = { appNo, filter, endedByMs, after: cursor, lastEvent, limit };
      const { names, reached: to, isLast } = await store.read('replayable', walk);
      const from = { event: cursor.event, n: cursor.n };
      const result = await store.edit('advanceReplay', { id, from, to, names, isLast });
      this.#standings.set(id, { isMine: result.kind === 'stepped', notBeforeMs: -Infinity });
      if (result.kind === 'stepped') this.#report(result.replay);
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error;
      onError(error); // Only this replay is broken; the others must go on.
      const notBeforeMs = world.monotonicMs() + limits.replayAgainMs;
      this.#standings.set(id, { isMine: false, notBeforeMs });
    }
  }

  #report({ id, appNo, state, matched, replayed, skipped }: Replay): void {
    this.#deps.changes.replay(appNo, id);
    if (state === 'done') this.#deps.onDone({ replay: id, matched, replayed, skipped });
  }

  /** When this node would take the next step, by the store's clock. */
  #dueMs(replay: Replay, nowMs: number): number {
    const { isMine, notBeforeMs } = this.#standings.get(replay.id) ?? newcomer;
    const nextMs = dueStepMs(replay, nowMs);
    // After the clock was set back it is unknown how late another node is; the store lets one node
    // take the step.
    const isPatient = !isMine && this.#deps.store.isShared && nextMs === replay.nextMs;
    const againMs = nowMs + notBeforeMs - this.#deps.world.monotonicMs();
    return Math.max(nextMs + (isPatient ? limits.replayPatienceMs : 0), againMs);
  }

  #remember(running: readonly Replay[]): void {
    this.#standings = new Map(
      running.map(({ id }) => [id, this.#standings.get(id) ?? newcomer] as const),
    );
  }
}

/** The first node that sees a replay takes its first step. */
const newcomer: RunningReplay = { isMine: true, notBeforeMs: -Infinity };
