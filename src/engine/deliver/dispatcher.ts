// The dispatcher keeps deliveries moving: it takes fresh ones from the publish that made them,
// claims pending ones while it has room, and settles each after its attempt. The backlog stays in
// the store; memory holds a bounded window.
import { NewestMap } from '../../core/base/newest-map.ts';
import type { World } from '../../core/base/world.ts';
import { type Leased, leaseOf } from '../../core/domain/delivery.ts';
import { never } from '../../core/domain/lane.ts';
import { limits } from '../../core/limits/limits.ts';
import type {
  DeliverySink,
  LeaseOffer,
  Offer,
  NextWork,
  Settled,
  Settlement,
  Worked,
} from '../../store/port/delivery-verbs.ts';
import { StoreUnavailable, type Store } from '../../store/port/store.ts';
import type { InFlight } from './attempts-by-app.ts';
import { createWindow, resultOf, type Window } from './window.ts';

export interface DispatcherDeps {
  world: World;
  store: Pick<Store, 'settle' | 'work' | 'attach' | 'pollMs' | 'handOut' | 'isShared'>;
  /** This node: its current number, and whether it may work. */
  self: { no(): number; mayWork(): boolean };
  deliver: (leased: Leased, start: Start) => Promise<Settlement>;
  /** The subscription ended with the delivery: its receiver wants no more callbacks, or it was the final one. */
  onGone: (subscription: string, leased: Leased, settlement: Settlement) => void;
  /** The receiver of a lane has failed long enough to disable the subscription. Never rejects. */
  onOverdue: (overdue: Overdue) => Promise<void>;
  /** An attempt begins, or its outcome was committed. */
  onMoved: (leased: Leased, settlement: Settlement | undefined) => void;
  onError: (error: unknown, leased?: Leased) => void;
}

export type Overdue = Extract<Settled, { kind: 'overdue' }>;

/** What an attempt starts with. */
export interface Start {
  /** Aborts the attempt. */
  signal: AbortSignal;
  /**
   * When the store was asked, not when it answered, whether the lane is active: a process that was
   * frozen in between would otherwise take an old answer for a new one.
   */
  confirmedMs: number;
}

export class Dispatcher implements LeaseOffer, DeliverySink {
  readonly #deps: DispatcherDeps;
  #window: Window;
  #inFlight = 0;
  /** Resolved when nothing is in flight. */
  #drained: PromiseWithResolvers<void> | undefined;
  readonly #stopClaiming = new AbortController();
  readonly #abortAttempts = new AbortController();
  readonly #clock: Promise<void>;
  #leases = 0;
  /** When each offer was made, by its lease. */
  readonly #offeredMs = new NewestMap<number, number>(limits.offersRememberedMax);
  #readyMs = 0; // The earliest time at which a claim could find something.
  /** The same, but only from notifications since the last claim was sent. */
  #notedReadyMs = never;
  #isFanningOut = true;
  #stepsPutOff = 0; // Consecutive.
  #publishesMs: readonly [number, number] = [-Infinity, -Infinity]; // Monotonic times of the last two publishes.
  #isAskingAgain = false; // The store has failed and is retried after a pause.
  /** When the poll timer fires next, and how to restart it. */
  #ringsMs = 0;
  #recount = new AbortController();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#window = this.#newWindow();
    deps.store.attach(this);
    this.#ask();
    this.#clock = this.#tick();
  }

  /** Stops claiming, gives attempts time to finish, then aborts and releases the rest. */
  async stop(graceMs: () => number): Promise<void> {
    this.#stopClaiming.abort();
    const ended = this.#untilDrained();
    const patience = new AbortController();
    const grace = waitForGrace(this.#deps.world, graceMs, patience.signal);
    await Promise.race([ended, grace]);
    patience.abort();
    this.#abortAttempts.abort();
    await ended;
    await this.#clock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(() => limits.stopTimeoutMs);
  }

  /** Deliveries that this node holds. */
  inFlight(): number {
    return this.#inFlight;
  }

  offer(): Offer | undefined {
    this.#publishesMs = [this.#publishesMs[1], this.#deps.world.monotonicMs()];
    return this.#mayTake() ? this.#offer('offer') : undefined;
  }

  take(deliveries: readonly Leased[], { readyMs, isFanningOut }: NextWork): void {
    if (isFanningOut) this.#isFanningOut = true;
    this.#start(deliveries);
    this.#noteReady(readyMs ?? never);
  }

  claim(): Offer | undefined {
    if (!this.#mayClaim()) return undefined;
    this.#notedReadyMs = never;
    return this.#offer('claimOffer');
  }

  /**
   * Leaves room for fresh events, as a claim does; the store counts what a claim in the same work
   * took. A step makes as many deliveries as there is room for, since others would have to be
   * claimed. Publishes wait for it, so steps are short while others publish (a single recent
   * publish is that of the fan-out): see docs/performance.md.
   */
  fanOut(): Offer | undefined {
    if (!this.#isFanningOut || !this.#mayTake()) return undefined;
    const isFull = this.#window.size() > 0 && this.#window.claimRoom() < limits.fanOutStepMin;
    // The next attempt that ends asks again. Claims may take all the room, so a step is put off
    // only a few times.
    const isPutOff = isFull && this.#stepsPutOff < limits.fanOutPutOffMax;
    this.#stepsPutOff = isPutOff ? this.#stepsPutOff + 1 : 0;
    if (isPutOff) return undefined;
    const { world, store } = this.#deps;
    const areOthers = world.monotonicMs() - this.#publishesMs[0] < limits.fanOutSharedMs;
    const stepMax = store.isShared ? limits.fanOutStepMin : limits.fanOutJoinedStepMax;
    return { ...this.#offer('claimOffer'), ...(areOthers ? { stepMax } : {}) };
  }

  wake(): void {
    this.#isFanningOut = true;
    this.#noteReady(this.#deps.world.nowMs());
  }

  /**
   * This node's number is void: its deliveries belong to other nodes. Attempts in flight finish or
   * stop before the wire, and leave the window that they entered; the store ignores their outcomes.
   */
  lost(): void {
    this.#window = this.#newWindow();
  }

  refused(): void {
    // One retry for all refusals; otherwise a long outage would accumulate more with every attempt.
    if (this.#isAskingAgain) return;
    this.#isAskingAgain = true;
    const { world } = this.#deps;
    const again = world.sleep(limits.settleAgainMs, this.#stopClaiming.signal);
    again.then(
      () => {
        this.#isAskingAgain = false;
        this.#ask();
      },
      () => undefined, // Stopped in the meantime.
    );
  }

  worked(worked: Worked, asked: { claim: boolean; fanOut: boolean }): void {
    const readyMs = worked.readyMs ?? never;
    // A claim has seen everything that was ready when it was made; later notifications still count.
    this.#readyMs = Math.min(readyMs, asked.claim ? this.#notedReadyMs : this.#readyMs);
    if (asked.fanOut) this.#isFanningOut = worked.fannedOut.isMore;
    const { failure, deliveries } = worked.fannedOut;
    if (failure !== undefined) this.#deps.onError(new Error(failure));
    this.#start([...worked.claimed, ...deliveries]);
    this.#ask();
  }

  /**
   * Waits also for deliveries that a claim in flight still brings, so that their requests are not
   * cut off.
   */
  async #untilDrained(): Promise<void> {
    if (this.#inFlight > 0) await (this.#drained ??= Promise.withResolvers()).promise;
  }

  #newWindow(): Window {
    return createWindow(() => leaseOf(this.#deps.self.no(), (this.#leases += 1)));
  }

  #offer(what: 'offer' | 'claimOffer'): Offer {
    const { world } = this.#deps;
    const offer = this.#window[what](world.monotonicMs());
    this.#offeredMs.set(offer.lease, world.elapsedMs());
    return offer;
  }

  #mayTake(): boolean {
    if (this.#stopClaiming.signal.aborted || !this.#deps.self.mayWork()) return false;
    return this.#inFlight < limits.unwrittenMax;
  }

  #mayClaim(): boolean {
    if (this.#readyMs === never || !this.#mayTake()) return false;
    return this.#readyMs <= this.#deps.world.nowMs() && this.#window.claimRoom() > 0;
  }

  #start(deliveries: readonly Leased[]): void {
    const { world, store } = this.#deps;
    const [window, nowMs] = [this.#window, world.monotonicMs()];
    const entered = deliveries.map((one) => [one, window.enter(one, nowMs)] as const);
    this.#inFlight += deliveries.length;
    store.handOut(() => {
      for (const [leased, held] of entered) void this.#run(leased, window, held);
    });
    if (window.hasUnofferedRoom(deliveries.map(({ lane }) => lane))) this.#noteReady(world.nowMs());
  }

  async #run(leased: Leased, window: Window, held: InFlight): Promise<void> {
    try {
      this.#deps.onMoved(leased, undefined);
      const settlement = await this.#attempt(leased);
      // The slot is free now and can be offered in the batch that writes the outcome.
      const { wasFull } = window.leave(held, resultOf(settlement));
      if (wasFull) this.#expect(this.#deps.world.nowMs());
      const handing = settle(this.#deps, settlement, this.#abortAttempts.signal);
      this.#ask();
      const settled = await handing;
      if (settled?.kind === 'overdue') await this.#deps.onOverdue(settled);
      this.#ended(leased, window, { settlement, settled });
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#drained?.resolve();
    }
  }

  #attempt(leased: Leased): Promise<Settlement> {
    const { deliver, onError } = this.#deps;
    const confirmedMs = this.#offeredMs.get(leased.lease) ?? -Infinity;
    const start = { signal: this.#abortAttempts.signal, confirmedMs };
    return deliver(leased, start).catch((error: unknown) => {
      onError(error, leased);
      const { event, n, lease } = leased;
      return { event, n, lease, outcome: releasedForFailure, attempt: undefined };
    });
  }

  #ended(
    leased: Leased,
    window: Window,
    { settlement, settled }: { settlement: Settlement; settled: Settled | undefined },
  ): void {
    if (settled?.kind === 'gone') this.#deps.onGone(settled.subscription, leased, settlement);
    const isWritten = settled !== undefined && settled.kind !== 'stale';
    if (isWritten) this.#deps.onMoved(leased, settlement);
    const isCapped =
      settled?.kind === 'settled' && window.limit(leased.lane, settled.concurrency).mayBeFull;
    // Without an answer about the lane, the store may still count it as full.
    const isLaneUnknown = settled?.kind === 'stale' || settled?.kind === 'overdue';
    const { outcome } = settlement;
    const nowMs = this.#deps.world.nowMs();
    if (isCapped || isLaneUnknown) this.#noteReady(nowMs);
    else this.#noteReady('waitMs' in outcome ? nowMs + outcome.waitMs : never);
  }

  /** Something becomes due then. */
  #noteReady(readyMs: number): void {
    this.#expect(readyMs);
    this.#ask();
  }

  #expect(readyMs: number): void {
    this.#readyMs = Math.min(this.#readyMs, readyMs);
    this.#notedReadyMs = Math.min(this.#notedReadyMs, readyMs);
  }

  /**
   * Asks the store for work if there is any, or else restarts the timer if something is due
   * earlier.
   */
  #ask(): void {
    if (this.#mayClaim() || this.#isFanningOut) this.#deps.store.work();
    else if (this.#readyMs < this.#ringsMs) this.#recount.abort();
  }

  /**
   * Asks for work when something becomes due. Overdue deliveries wait for room, and an ending
   * attempt asks for them. The timer also fires every `pollMs`, because another node may have made
   * deliveries ready or begun a fan-out, and its notification may be lost.
   */
  async #tick(): Promise<void> {
    const { world, store } = this.#deps;
    const { signal } = this.#stopClaiming;
    let isOver = true;
    while (!signal.aborted) {
      this.#recount = new AbortController();
      const either = AbortSignal.any([signal, this.#recount.signal]);
      const dueInMs = this.#readyMs - world.nowMs();
      const waitMs = dueInMs > 0 ? Math.min(dueInMs, store.pollMs) : store.pollMs;
      this.#ringsMs = world.nowMs() + waitMs;
      // The timer was restarted for something that may be due by now, and nothing else would ask
      // for it.
      if (!isOver && this.#mayClaim()) this.#deps.store.work();
      isOver = await world.sleep(waitMs, either).then(
        () => true,
        () => false,
      );
      if (isOver) this.wake();
    }
  }
}

// How long a stop must wait so that no attempt in flight is cut off: each has the timeout that its
// subscription chose.

export interface LongestTimeout {
  /** Call when an attempt begins; the function returned, when it ends. */
  begin(timeoutMs: number): () => void;
  /** The longest timeout of the attempts in flight; 0 if there are none. */
  ms(): number;
}

export function createLongestTimeout(): LongestTimeout {
  const inFlight = new Map<number, number>();
  const count = (timeoutMs: number, by: number): void => {
    const now = (inFlight.get(timeoutMs) ?? 0) + by;
    if (now === 0) inFlight.delete(timeoutMs);
    else inFlight.set(timeoutMs, now);
  };
  return {
    begin: (timeoutMs) => {
      count(timeoutMs, 1);
      return () => count(timeoutMs, -1);
    },
    ms: () => Math.max(0, ...inFlight.keys()),
  };
}

/** Resolves after `graceMs`, which may grow while it waits, or when aborted. */
export async function waitForGrace(
  world: Pick<World, 'monotonicMs' | 'sleep'>,
  graceMs: () => number,
  signal: AbortSignal,
): Promise<void> {
  const beganMs = world.monotonicMs();
  for (;;) {
    const leftMs = beganMs + graceMs() - world.monotonicMs();
    if (leftMs <= 0 || signal.aborted) return;
    await world.sleep(leftMs, signal).catch(() => undefined);
  }
}

// Hands the outcome of a delivery to the store and retries until it is written or the node stops.

interface Deps {
  world: Pick<World, 'nowMs' | 'sleep'>;
  store: Pick<Store, 'settle'>;
  onError: (error: unknown) => void;
}

/**
 * No outcome is lost while the store is unavailable; after an abort the next start finds the
 * delivery still leased.
 */
async function settle(
  deps: Deps,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  for (;;) {
    try {
      return await deps.store.settle(settlement);
    } catch (error) {
      deps.onError(error);
      if (!(error instanceof StoreUnavailable)) return giveBack(deps, settlement, signal);
      if (signal.aborted) return undefined;
      await deps.world.sleep(limits.settleAgainMs, signal).catch(() => undefined);
    }
  }
}

/** If an outcome cannot be written, the delivery is released, so that it does not stay leased. */
async function giveBack(
  deps: Deps,
  { event, n, lease, outcome }: Settlement,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  if (outcome.kind === 'released') return undefined;
  const released = { event, n, lease, outcome: releasedForFailure, attempt: undefined };
  return settle(deps, released, signal);
}

const releasedForFailure = { kind: 'released', waitMs: limits.ownFailureWaitMs } as const;
