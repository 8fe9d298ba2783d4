// When expensive requests begin, so that they leave most of the main thread to publishing: subscribes and other changes,
// and large publishes. docs/decisions/0030 and 0037 have the reasons.
import { atEndOfTurn } from '../../core/base/end-of-turn.ts';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import { FairQueue, type AppNo } from '../../core/load/fair-queue.ts';

/** `late`: it has waited for too long, and must be refused. */
export type TurnAnswer = 'begin' | 'late';

interface WaitingChange {
  appNo: AppNo;
  sinceMs: number;
  answer: (verdict: TurnAnswer) => void;
}

const { publishesPerChange, changeEveryMs, changeTurnMs, publishQuietMs } = limits;
const creditMax = limits.changesAtOnceMax * publishesPerChange;

/**
 * Paces changes while publishes go on. A change waits here with its key checked and its body read, before its expensive
 * part. While no publish is in progress, changes begin at once. Never decides about a publish or a read.
 */
export class ChangeTurns {
  readonly #world: Pick<World, 'monotonicMs' | 'sleep'>;
  /** Calls back at the end of this turn of the event loop. */
  readonly #atEnd: (body: () => void) => void;
  readonly #queue = new FairQueue<WaitingChange>();
  readonly #oldestFirst = new Set<WaitingChange>();
  /** Publishes that ended and that no change has used up; below zero if changes began without them. */
  #credit = creditMax;
  #publishes = 0;
  #publishEndedMs = -Infinity;
  #begunMs = -Infinity;
  #isAsked = false;
  #isAsleep = false;

  constructor(
    world: Pick<World, 'monotonicMs' | 'sleep'>,
    atEnd: (body: () => void) => void = atEndOfTurn,
  ) {
    this.#world = world;
    this.#atEnd = atEnd;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Calls `answer` once: now, or when the turn of the change comes. The result takes the change out of the queue. */
  wait(appNo: AppNo, answer: (verdict: TurnAnswer) => void): () => void {
    const nowMs = this.#world.monotonicMs();
    if (this.#queue.size === 0 && this.#mayBegin(nowMs)) {
      this.#begin(answer, nowMs);
      return alreadyBegun;
    }
    const one: WaitingChange = { appNo, sinceMs: nowMs, answer };
    this.#oldestFirst.add(one);
    this.#queue.add(appNo, one);
    this.#scheduleTimer();
    return () => this.#remove(one);
  }

  publishBegan(): void {
    this.#publishes += 1;
  }

  publishEnded(): void {
    this.#publishes -= 1;
    this.#publishEndedMs = this.#world.monotonicMs();
    this.#credit = Math.min(this.#credit + 1, creditMax);
    if (this.#queue.size > 0) this.#scheduleProcessing();
  }

  /** Not between two publishes of a client that publishes again as soon as it is answered. */
  #isWithoutPublishes(nowMs: number): boolean {
    return this.#publishes === 0 && nowMs - this.#publishEndedMs >= publishQuietMs;
  }

  #mayBegin(nowMs: number): boolean {
    const isDue = nowMs - this.#begunMs >= changeEveryMs;
    return isDue || this.#credit >= publishesPerChange || this.#isWithoutPublishes(nowMs);
  }

  #begin(answer: WaitingChange['answer'], nowMs: number): void {
    if (!this.#isWithoutPublishes(nowMs)) {
      this.#credit = Math.max(this.#credit - publishesPerChange, -creditMax);
    }
    this.#begunMs = nowMs;
    answer('begin');
  }

  #remove(one: WaitingChange): void {
    if (this.#oldestFirst.delete(one)) this.#queue.remove(one.appNo, one);
  }

  #processQueue(): void {
    this.#isAsked = false;
    this.#refuseLate();
    while (this.#beginNext() === 'go on');
    if (this.#queue.size === 0) return;
    if (this.#isWithoutPublishes(this.#world.monotonicMs())) this.#scheduleProcessing();
    else this.#scheduleTimer();
  }

  #refuseLate(): void {
    const nowMs = this.#world.monotonicMs();
    for (const one of this.#oldestFirst) {
      if (nowMs - one.sinceMs < changeTurnMs) break;
      this.#remove(one);
      one.answer('late');
    }
  }

  /** Without publishes, one begins in each turn of the event loop, so that the next publish is noticed. */
  #beginNext(): 'go on' | 'stop' {
    const nowMs = this.#world.monotonicMs();
    const next = this.#mayBegin(nowMs) ? this.#queue.take(always)?.item : undefined;
    if (next === undefined) return 'stop';
    this.#oldestFirst.delete(next);
    this.#begin(next.answer, nowMs);
    return this.#isWithoutPublishes(nowMs) ? 'stop' : 'go on';
  }

  #scheduleProcessing(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    this.#atEnd(() => this.#processQueue());
  }

  #scheduleTimer(): void {
    if (this.#isAsleep) return;
    this.#isAsleep = true;
    void this.#world.sleep(changeEveryMs).then(() => {
      this.#isAsleep = false;
      this.#scheduleProcessing();
    });
  }
}

function always(): boolean {
  return true;
}

function alreadyBegun(): void {}

/**
 * Lets one large publish begin in each turn of the event loop, the apps in turn. Reading a batch takes the main thread
 * for milliseconds, so that several in one turn would hold up everything else that the turn has to do.
 */
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
