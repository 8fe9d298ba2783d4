// Decides what the next batch of a store contains and when it is sent, and passes the replies to the callers. There are
// no timers: a batch is everything that arrived while the previous one was written. A lone edit is sent at once, or
// after one or more turns of the event loop, as the pacer decides. Publishes and claims alternate, because both would
// be offered the same free slots.
import { strict as assert } from 'node:assert';
import { sendAtOnce, type CreatePacer, type BatchPacer } from '../../core/load/batch-pacer.ts';
import type { Offer, Settlement, WorkOffers, Worked, Worker } from '../port/delivery-verbs.ts';
import { StoreUnavailable, type Waiting } from '../port/store.ts';
import {
  type BatchReply,
  type SettleReply,
  type StoreFailure,
  type Transport,
  type WorkReply,
  toError,
  unreachable,
} from '../port/transport-protocol.ts';
import {
  answerAll,
  refuseAll,
  createEditQueue,
  type Awaiting,
  type EditQueue,
  type QueueLimits,
  type WaitingEdit,
} from './edit-queue.ts';
import { leasedFrom } from './fresh-deliveries.ts';

export interface BatcherOptions extends QueueLimits {
  nowMs: () => number;
  /** Called with the facts of every batch, once it was answered. */
  onBatch?: (batch: BatchFacts) => void;
  monotonicMs?: () => number;
  pacer?: CreatePacer | undefined;
}

/**
 * `write`: publishes, with all other edits if the store takes them together. `change`: the other edits, if it takes
 * them apart. `work`: outcomes, claims and fan-out steps.
 */
type Kind = 'write' | 'change' | 'work';

/** Whether a batch in flight may lease deliveries. */
type Taking = 'leases' | 'nothing';

export type WaitingSettlement = Awaiting<SettleReply> & { settlement: Settlement };

export class BatchCycle {
  readonly #transport: Transport;
  readonly #options: BatcherOptions;
  readonly #pacer: BatchPacer;
  readonly #edits: EditQueue;
  /** All edits other than publishes, if the store takes them apart. */
  readonly #changes: EditQueue;
  /** Whether the store refused the last edits, and the last batch with a claim or a fan-out step. */
  #isRefused = false;
  #isWorkRefused = false;
  readonly #settlements: WaitingSettlement[] = [];
  #worker: Worker | undefined;
  #isWorkAsked = false;
  /** The kind of the last batch that was offered slots. */
  #last: Kind = 'work';
  readonly #inFlight = new Map<Kind, Taking>();
  #isDrained = false;
  readonly #drained = Promise.withResolvers<void>();
  #closed: Promise<void> | undefined;

  constructor(transport: Transport, options: BatcherOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#pacer = (options.pacer ?? sendAtOnce)(() => this.#start());
    this.#edits = createEditQueue(options);
    this.#changes = createEditQueue(options);
  }

  edit(waiting: WaitingEdit): void {
    this.#refuseWhenClosed('edit');
    this.#queueOf(waiting).push(waiting);
    this.#pacer.requestSend();
  }

  withdraw(waiting: WaitingEdit): boolean {
    if (!this.#queueOf(waiting).withdraw(waiting)) return false;
    waiting.refuse(new StoreUnavailable('Cannot edit: withdrawn before its turn came'));
    return true;
  }

  settle(waiting: WaitingSettlement): void {
    this.#refuseWhenClosed('settle');
    this.#settlements.push(waiting);
    this.#pacer.requestSend();
  }

  work(): void {
    if (this.#closed !== undefined) return;
    this.#isWorkAsked = true;
    this.#pacer.requestSend();
  }

  attach(worker: Worker): void {
    assert(this.#worker === undefined, 'Cannot attach a worker: one is already attached');
    this.#worker = worker;
  }

  handOut(body: () => void): void {
    this.#pacer.handOut(body);
  }

  waiting(): Waiting {
    const edits = this.#edits.size() + this.#changes.size();
    return { edits, settlements: this.#settlements.length };
  }

  async close(): Promise<void> {
    this.#closed ??= this.#drained.promise.then(async () => this.#transport.close());
    this.#start();
    return this.#closed;
  }

  #refuseWhenClosed(verb: string): void {
    if (this.#closed !== undefined) {
      throw new StoreUnavailable(`Cannot ${verb}: the store is closed`);
    }
  }

  /** Sends every batch that may be sent now. The pacer calls it after a new call and after a reply. */
  #start(): void {
    for (let turn = this.#turn(); turn !== undefined; turn = this.#turn()) {
      void (turn === 'work' ? this.#workBatch() : this.#writeBatch(turn));
    }
    if (this.#closed === undefined || this.#inFlight.size > 0 || this.#isDrained) return;
    this.#isDrained = true;
    this.handOut(() => this.#drained.resolve()); // After the last callers were answered.
  }

  #end(kind: Kind): void {
    this.#inFlight.delete(kind);
    this.#pacer.requestSend();
  }

  #queueOf({ call }: WaitingEdit): EditQueue {
    return this.#areApart() && call.verb !== 'publish' ? this.#changes : this.#edits;
  }

  #areApart(): boolean {
    return this.#options.kinds === 'apart';
  }

  #turn(): Kind | undefined {
    if (!this.#changes.isEmpty() && !this.#inFlight.has('change')) return 'change';
    const mayWork = this.#mayWork();
    if (!this.#mayWrite()) return mayWork ? 'work' : undefined;
    return mayWork && this.#isWorkDue() ? 'work' : 'write';
  }

  #isWorkDue(): boolean {
    return this.#isWorkAsked && this.#last === 'write' && !this.#isAllJoined();
  }

  /**
   * Not while work that leases is in flight, because the same slots would be offered twice. Nor before work whose turn
   * it is.
   */
  #mayWrite(): boolean {
    if (this.#edits.isEmpty() || this.#inFlight.has('write')) return false;
    if (!this.#inFlight.has('work')) return true;
    return this.#inFlight.get('work') === 'nothing' && !this.#isWorkDue();
  }

  #mayWork(): boolean {
    if (this.#inFlight.has('work')) return false;
    if (this.#isJoined() && this.#inFlight.has('write')) return false; // Pending outcomes join the next one.
    return this.#settlements.length > 0 || (this.#isWorkAsked && this.#mayLease());
  }

  /**
   * Outcomes are written together with edits. After a failure each gets a transaction of its own: a disk that is too
   * full for new payloads may still have room for outcomes, which are small.
   */
  #isJoined(): boolean {
    return !this.#areApart() && !this.#isRefused;
  }

  /** Claims and fan-out steps join, too, unless one failed: pending rows may be unreadable, or need more disk space. */
  #isAllJoined(): boolean {
    return this.#isJoined() && !this.#isWorkRefused;
  }

  #mayLease(): boolean {
    return this.#inFlight.get('write') !== 'leases';
  }

  async #writeBatch(kind: Exclude<Kind, 'work'>): Promise<void> {
    const queue = kind === 'change' ? this.#changes : this.#edits;
    const taken = queue.take();
    const edits = taken.map(({ call }) => call);
    const offer = edits.some(({ verb }) => verb === 'publish') ? this.#ask('offer') : undefined;
    const outcomes = this.#isJoined() ? this.#takeOutcomes() : [];
    const workOffers = this.#isAllJoined() && this.#isWorkAsked ? this.#workOffers() : undefined;
    this.#taking(kind, offer ?? workOffers?.claim ?? workOffers?.fanOut);
    const settlements = outcomes.map(({ settlement }) => settlement);
    const nowMs = this.#options.nowMs();
    const sent = this.#begin('edits', taken.length + outcomes.length);
    const batch = { nowMs, settlements, edits, offer, workOffers };
    const reply = await reached<BatchReply>(this.#transport.send(batch));
    sent.answered(reply.kind === 'written');
    this.#isRefused = reply.kind !== 'written';
    this.#isWorkRefused ||= workOffers !== undefined && this.#isRefused;
    const isWhole =
      reply.kind === 'written' &&
      reply.edits.length + (reply.postponed ?? 0) === edits.length &&
      reply.settled.length === outcomes.length &&
      (workOffers === undefined || reply.worked !== undefined);
    if (!isWhole) {
      if (workOffers !== undefined) this.#worker?.refused();
      refuseAll([...outcomes, ...taken], reply.kind === 'written' ? tooShort() : failureOf(reply));
    } else {
      this.#worker?.take(leasedFrom(reply.fresh, batch), reply.nextWork);
      if (reply.worked !== undefined) this.#worked(reply.worked, workOffers);
      queue.putBack(taken.slice(reply.edits.length));
      this.handOut(() => {
        answerAll(outcomes, reply.settled);
        answerAll(taken, reply.edits);
      });
    }
    this.#end(kind);
  }

  async #workBatch(): Promise<void> {
    const outcomes = this.#takeOutcomes();
    const settlements = outcomes.map(({ settlement }) => settlement);
    const workOffers = this.#mayLease() ? this.#workOffers() : undefined;
    if (settlements.length === 0 && workOffers === undefined) return;
    const { claim, fanOut } = workOffers ?? {};
    this.#taking('work', claim ?? fanOut);
    const work = { nowMs: this.#options.nowMs(), settlements, claim, fanOut };
    const sent = this.#begin('work', outcomes.length);
    const reply = await reached<WorkReply>(this.#transport.work(work));
    sent.answered(reply.kind === 'worked');
    if (workOffers !== undefined) this.#isWorkRefused = reply.kind !== 'worked';
    if (reply.kind !== 'worked' || reply.settled.length !== outcomes.length) {
      this.#worker?.refused();
      refuseAll(outcomes, reply.kind === 'worked' ? tooShort() : failureOf(reply));
    } else {
      this.#worked(reply, workOffers);
      this.handOut(() => answerAll(outcomes, reply.settled));
    }
    this.#end('work');
  }

  #workOffers(): WorkOffers | undefined {
    this.#isWorkAsked = false;
    const [claim, fanOut] = [this.#ask('claim'), this.#ask('fanOut')];
    return (claim ?? fanOut) === undefined ? undefined : { claim, fanOut };
  }

  #worked(worked: Worked, asked: WorkOffers | undefined): void {
    const { claim, fanOut } = asked ?? {};
    this.#worker?.worked(worked, { claim: claim !== undefined, fanOut: fanOut !== undefined });
  }

  #takeOutcomes(): WaitingSettlement[] {
    return this.#settlements.splice(0, this.#options.batchEditsMax);
  }

  #taking(kind: Kind, offer: Offer | undefined): void {
    this.#inFlight.set(kind, offer === undefined ? 'nothing' : 'leases');
    // While outcomes join edits, a batch of edits counts as a turn even if it was offered no slots.
    if (offer !== undefined || (kind === 'write' && this.#isJoined())) this.#last = kind;
  }

  #begin(kind: BatchFacts['kind'], size: number): { answered: (isDone: boolean) => void } {
    const { onBatch, monotonicMs = () => 0 } = this.#options;
    const beganMs = monotonicMs();
    return {
      answered: (isDone) => onBatch?.({ kind, size, tookMs: monotonicMs() - beganMs, isDone }),
    };
  }

  /** Nothing is leased once the store is closing, because it would not be delivered any more. */
  #ask(what: 'offer' | 'claim' | 'fanOut'): Offer | undefined {
    return this.#closed === undefined ? this.#worker?.[what]() : undefined;
  }
}

interface Unreached {
  kind: 'unreached';
  error: Error;
}

async function reached<R>(asked: Promise<R>): Promise<R | Unreached> {
  try {
    return await asked;
  } catch (error) {
    return { kind: 'unreached', error: unreachable(error) };
  }
}

function failureOf(failure: StoreFailure | Unreached): Error {
  return failure.kind === 'unreached' ? failure.error : toError(failure);
}

function tooShort(): Error {
  return new StoreUnavailable('The store failed: its reply does not answer every call');
}

/** Facts about one batch, for metrics. */
export interface BatchFacts {
  kind: 'edits' | 'work';
  /** Number of edits and settlements. */
  size: number;
  tookMs: number;
  /** False: the store failed, and nothing in the batch was acknowledged. */
  isDone: boolean;
}
