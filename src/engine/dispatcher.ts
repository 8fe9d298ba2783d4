// The dispatcher keeps deliveries moving: it takes fresh ones straight from the publish that made them,
// claims waiting ones when there is room, and settles each when its attempt is over. The store keeps
// the backlog; what is in memory here is a bounded window of it.
import type { Leased } from '../core/delivery.ts';
import { leaseOf } from '../core/lease.ts';
import { limits } from '../core/limits.ts';
import { never } from '../core/lane.ts';
import { NewestMap } from '../core/newest-map.ts';
import type { World } from '../core/world.ts';
import type { Offer, Outlook, Settled, Settlement } from '../store/delivery-verbs.ts';
import type { Worked, Worker } from '../store/delivery-verbs.ts';
import type { Store } from '../store/store.ts';
import type { InFlight } from './app-shares.ts';
import { handIn } from './hand-in.ts';
import { waitOut } from './longest.ts';
import { createWindow, resultOf, type Window } from './window.ts';

export interface DispatcherMeans {
  world: World;
  store: Pick<Store, 'settle' | 'work' | 'attach' | 'pollMs' | 'handOut' | 'isShared'>;
  /** This node: its present number, and whether it counts as alive. */
  self: { no(): number; mayWork(): boolean };
  deliver: (leased: Leased, start: Start) => Promise<Settlement>;
  foresee?: Worker['foresee'];
  /** The subscription has ended because its receiver wants no more. */
  onGone: (subscription: string, leased: Leased) => void;
  /** The receiver of a lane has failed for so long that it may be given up. Never rejects. */
  onOverdue: (overdue: Overdue) => Promise<void>;
  /** An attempt begins, or what it led to is written down. */
  onMoved: (leased: Leased, settlement: Settlement | undefined) => void;
  onError: (error: unknown, leased?: Leased) => void;
}

export type Overdue = Extract<Settled, { kind: 'overdue' }>;

/** What a delivery starts with. */
export interface Start {
  /** Gives it up. */
  signal: AbortSignal;
  /**
   * Monotonic: the store said no earlier than this that its lane is open. It is when the store was
   * asked, not when it answered: a process that was frozen would take an old answer for a new one.
   */
  confirmedMs: number;
}

export class Dispatcher implements Worker {
  readonly foresee: Worker['foresee'];
  readonly #means: DispatcherMeans;
  #window: Window;
  #underWay = 0;
  /** For whoever waits until nothing is under way. */
  #drained: PromiseWithResolvers<void> | undefined;
  readonly #stopClaiming = new AbortController();
  readonly #abortAttempts = new AbortController();
  readonly #clock: Promise<void>;
  #leases = 0;
  /** When offers were made, by their lease. */
  readonly #offeredMs = new NewestMap<number, number>(limits.offersRememberedMax);
  #readyMs = 0; // When a claim would find something, as far as is known.
  /** The same, but only what was heard since the last claim was sent. */
  #heardMs = never;
  #isFanningOut = true;
  #stepsPutOff = 0; // In a row.
  #publishesMs: readonly [number, number] = [-Infinity, -Infinity]; // Monotonic: the last two that were asked for.
  #isAskingAgain = false; // The store has failed, and is asked again in a moment.
  /** When the clock rings next, and how to make it count anew. */
  #ringsMs = 0;
  #recount = new AbortController();

  constructor(means: DispatcherMeans) {
    this.#means = means;
    this.foresee = means.foresee;
    this.#window = this.#newWindow();
    means.store.attach(this);
    this.#ask();
    this.#clock = this.#tick();
  }

  /** Stops claiming, lets attempts end for a while, gives back the rest. */
  async stop(graceMs: () => number): Promise<void> {
    this.#stopClaiming.abort();
    const ended = this.#untilDrained();
    const patience = new AbortController();
    const grace = waitOut(this.#means.world, graceMs, patience.signal);
    await Promise.race([ended, grace]);
    patience.abort();
    this.#abortAttempts.abort();
    await ended;
    await this.#clock;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(() => limits.stopTimeoutMs);
  }

  /** Deliveries that this node has. */
  underWay(): number {
    return this.#underWay;
  }

  offer(): Offer | undefined {
    this.#publishesMs = [this.#publishesMs[1], this.#means.world.monotonicMs()];
    return this.#mayTake() ? this.#offer('offer') : undefined;
  }

  take(deliveries: readonly Leased[], { readyMs, isFanningOut }: Outlook): void {
    if (isFanningOut) this.#isFanningOut = true;
    this.#start(deliveries);
    this.#hear(readyMs ?? never);
  }

  claim(): Offer | undefined {
    if (!this.#mayClaim()) return undefined;
    this.#heardMs = never;
    return this.#offer('claimOffer');
  }

  /**
   * Like a claim it leaves room for fresh events; beside a claim the store counts what the claim took. A step makes
   * as many as there is room for: others would have to be claimed. But whoever publishes waits for it to end, so
   * it is short while others do (one alone is its own): docs/performance.md has the figures.
   */
  fanOut(): Offer | undefined {
    if (!this.#isFanningOut || !this.#mayTake()) return undefined;
    const isFull = this.#window.size() > 0 && this.#window.claimRoom() < limits.fanOutStepMin;
    // Whoever makes room asks again. But claims may take it all: so it is put off a few times only.
    const isPutOff = isFull && this.#stepsPutOff < limits.fanOutPutOffMax;
    this.#stepsPutOff = isPutOff ? this.#stepsPutOff + 1 : 0;
    if (isPutOff) return undefined;
    const { world, store } = this.#means;
    const areOthers = world.monotonicMs() - this.#publishesMs[0] < limits.fanOutSharedMs;
    const stepMax = store.isShared ? limits.fanOutStepMin : limits.fanOutJoinedStepMax;
    return { ...this.#offer('claimOffer'), ...(areOthers ? { stepMax } : {}) };
  }

  wake(): void {
    this.#isFanningOut = true;
    this.#hear(this.#means.world.nowMs());
  }

  /**
   * The node's number is void, and what is under way belongs to others. It runs to its end or stops before the
   * wire, and leaves the window that it entered; nobody believes its outcome.
   */
  lost(): void {
    this.#window = this.#newWindow();
  }

  refused(): void {
    // One wait for all refusals: else a long failure would gather more of them with every try.
    if (this.#isAskingAgain) return;
    this.#isAskingAgain = true;
    const { world } = this.#means;
    const again = world.sleep(limits.settleAgainMs, this.#stopClaiming.signal);
    again.then(
      () => {
        this.#isAskingAgain = false;
        this.#ask();
      },
      () => undefined, // Stopped meanwhile.
    );
  }

  worked(worked: Worked, asked: { claim: boolean; fanOut: boolean }): void {
    const readyMs = worked.readyMs ?? never;
    // A claim has seen all that was ready when it was made; what was heard meanwhile is newer.
    this.#readyMs = Math.min(readyMs, asked.claim ? this.#heardMs : this.#readyMs);
    if (asked.fanOut) this.#isFanningOut = worked.fannedOut.isMore;
    const { failure, deliveries } = worked.fannedOut;
    if (failure !== undefined) this.#means.onError(new Error(failure));
    this.#start([...worked.claimed, ...deliveries]);
    this.#ask();
  }

  /** What a claim under way brings while we wait is waited for too: its requests are not cut off. */
  async #untilDrained(): Promise<void> {
    if (this.#underWay > 0) await (this.#drained ??= Promise.withResolvers()).promise;
  }

  #newWindow(): Window {
    return createWindow(() => leaseOf(this.#means.self.no(), (this.#leases += 1)));
  }

  #offer(what: 'offer' | 'claimOffer'): Offer {
    const { world } = this.#means;
    const offer = this.#window[what](world.monotonicMs());
    this.#offeredMs.set(offer.lease, world.elapsedMs());
    return offer;
  }

  #mayTake(): boolean {
    if (this.#stopClaiming.signal.aborted || !this.#means.self.mayWork()) return false;
    return this.#underWay < limits.unwrittenMax;
  }

  #mayClaim(): boolean {
    if (this.#readyMs === never || !this.#mayTake()) return false;
    return this.#readyMs <= this.#means.world.nowMs() && this.#window.claimRoom() > 0;
  }

  #start(deliveries: readonly Leased[]): void {
    const { world, store } = this.#means;
    const [window, nowMs] = [this.#window, world.monotonicMs()];
    const entered = deliveries.map((one) => [one, window.enter(one, nowMs)] as const);
    this.#underWay += deliveries.length;
    store.handOut(() => {
      for (const [leased, held] of entered) void this.#run(leased, window, held);
    });
    if (window.hasUntoldRoom(deliveries.map(({ lane }) => lane))) this.#hear(world.nowMs());
  }

  async #run(leased: Leased, window: Window, held: InFlight): Promise<void> {
    try {
      this.#means.onMoved(leased, undefined);
      const settlement = await this.#attempt(leased);
      // Its place is free from now on, and can be offered with the batch that writes the outcome down.
      const { wasFull } = window.leave(held, resultOf(settlement));
      if (wasFull) this.#expect(this.#means.world.nowMs());
      const handing = handIn(this.#means, settlement, this.#abortAttempts.signal);
      this.#ask();
      const settled = await handing;
      if (settled?.kind === 'overdue') await this.#means.onOverdue(settled);
      this.#ended(leased, window, { settlement, settled });
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#drained?.resolve();
    }
  }

  #attempt(leased: Leased): Promise<Settlement> {
    const { deliver, onError, world } = this.#means;
    const confirmedMs = this.#offeredMs.get(leased.lease) ?? -Infinity;
    const start = { signal: this.#abortAttempts.signal, confirmedMs };
    return deliver(leased, start).catch((error: unknown) => {
      onError(error, leased);
      const { event, n, lease } = leased;
      const dueMs = world.nowMs() + limits.ownFailureWaitMs;
      return { event, n, lease, outcome: { kind: 'released', dueMs }, attempt: undefined };
    });
  }

  #ended(
    leased: Leased,
    window: Window,
    { settlement, settled }: { settlement: Settlement; settled: Settled | undefined },
  ): void {
    if (settled?.kind === 'gone') this.#means.onGone(settled.subscription, leased);
    const isWritten = settled !== undefined && settled.kind !== 'stale';
    if (isWritten) this.#means.onMoved(leased, settlement);
    const isCapped =
      settled?.kind === 'settled' && window.limit(leased.lane, settled.concurrency).mayBeFull;
    // Who heard nothing of the lane cannot know whether the store calls it full.
    const isUntold = settled?.kind === 'stale' || settled?.kind === 'overdue';
    if (isCapped || isUntold) this.#hear(this.#means.world.nowMs());
    else this.#hear('dueMs' in settlement.outcome ? settlement.outcome.dueMs : never);
  }

  /** Something will be due then. */
  #hear(readyMs: number): void {
    this.#expect(readyMs);
    this.#ask();
  }

  #expect(readyMs: number): void {
    this.#readyMs = Math.min(this.#readyMs, readyMs);
    this.#heardMs = Math.min(this.#heardMs, readyMs);
  }

  /** Asks for work if there is any; otherwise the clock counts anew. */
  #ask(): void {
    if (this.#mayClaim() || this.#isFanningOut) this.#means.store.work();
    else if (this.#readyMs < this.#ringsMs) this.#recount.abort();
  }

  /**
   * Asks for work when something becomes due. What is due already waits for room, and whoever makes
   * room asks; now and then the clock asks in any case, as if something had been heard: another node
   * may have made deliveries ready or begun a fan-out, and its word may have been lost.
   */
  async #tick(): Promise<void> {
    const { world, store } = this.#means;
    const { signal } = this.#stopClaiming;
    let isOver = true;
    while (!signal.aborted) {
      this.#recount = new AbortController();
      const either = AbortSignal.any([signal, this.#recount.signal]);
      const dueInMs = this.#readyMs - world.nowMs();
      const waitMs = dueInMs > 0 ? Math.min(dueInMs, store.pollMs) : store.pollMs;
      this.#ringsMs = world.nowMs() + waitMs;
      // Counted anew for what was a moment away: it may be due by now, and nobody else would ask.
      if (!isOver && this.#mayClaim()) this.#means.store.work();
      isOver = await world.sleep(waitMs, either).then(
        () => true,
        () => false,
      );
      if (isOver) this.wake();
    }
  }
}
