// Group commit: one batch is written while the next one collects edits, so that many edits share
// one fsync. There are no timers: a batch is whatever arrived meanwhile. A lone edit is sent at
// once, or after one or more turns of the event loop, depending on the pace. For a store with one
// writer, outcomes, edits and delivery work go into one batch. For other stores outcomes are sent
// separately, and batches that take leases alternate, since both would be offered the same room.
import { strict as assert } from 'node:assert';
import { atOnce, type HandOut, type MakePace, type Pace } from '../core/pace.ts';
import { answerAll, refuseAll, type Awaiting } from './answer-all.ts';
import type { BatchReply, SettleReply, Transport, WorkReply } from './call.ts';
import type { BatchFacts } from './batch-facts.ts';
import { editCall, editOutput } from './call.ts';
import type { Offer, Settled, Settlement, TakeUp, Worked, Worker } from './delivery-verbs.ts';
import type { EditQueue, QueueLimits, WaitingEdit } from './edit-queue.ts';
import { createEditQueue } from './edit-queue.ts';
import { freshFrom } from './leased-from.ts';
import { failureOf, reached, tooShort } from './reached.ts';
import { rebuild } from './rebuild.ts';
import type { EditInput, EditOutput, EditVerb, Waiting } from './store.ts';
import { StoreUnavailable } from './store.ts';

export interface BatcherOptions extends QueueLimits {
  nowMs: () => number;
  /** Called for every batch that was sent, once it was answered. */
  onBatch?: (batch: BatchFacts) => void;
  monotonicMs?: () => number;
  pace?: MakePace | undefined;
}

export interface Batcher {
  edit: <V extends EditVerb>(verb: V, input: EditInput<V>) => Promise<EditOutput<V>>;
  settle: (settlement: Settlement) => Promise<Settled>;
  /** Requests a work cycle, even if there is nothing to settle. */
  work: () => void;
  attach: (worker: Worker) => void;
  handOut: HandOut;
  waiting: () => Waiting;
  /** Refuses new calls, finishes accepted ones, then closes the transport. */
  close: () => Promise<void>;
}

type Kind = 'write' | 'work';

/** Whether a batch in flight was offered room. */
type Taking = 'leases' | 'nothing';

type WaitingSettlement = Awaiting<SettleReply> & { settlement: Settlement };

/**
 * Sharing a transaction between hundreds of callers gives several times the rate of one transaction
 * per edit (bench/parts/store-edits.ts).
 */
export function createBatcher(transport: Transport, options: BatcherOptions): Batcher {
  const cycle = new Cycle(transport, options);
  return {
    edit: (verb, input) =>
      new Promise<EditOutput<typeof verb>>((resolve, reject) =>
        cycle.edit({
          call: editCall(verb, input),
          answer: (reply) => {
            if (reply.kind === 'done') resolve(editOutput(verb, reply.output));
            else reject(rebuild(reply));
          },
          refuse: reject,
        }),
      ),
    settle: (settlement) =>
      new Promise<Settled>((resolve, reject) =>
        cycle.settle({
          settlement,
          answer: (reply) => {
            if (reply.kind === 'done') resolve(reply.output);
            else reject(rebuild(reply));
          },
          refuse: reject,
        }),
      ),
    work: () => cycle.work(),
    attach: (worker) => cycle.attach(worker),
    handOut: (body) => cycle.handOut(body),
    waiting: () => cycle.waiting(),
    close: async () => cycle.close(),
  };
}

class Cycle {
  readonly #transport: Transport;
  readonly #options: BatcherOptions;
  readonly #pace: Pace;
  readonly #edits: EditQueue;
  /**
   * Whether the store refused the last edits, and the last batch with a claim or a fan-out step.
   */
  #isRefused = false;
  #isTakeUpRefused = false;
  readonly #settlements: WaitingSettlement[] = [];
  #worker: Worker | undefined;
  #isWorkAsked = false;
  /** Whose turn was last. */
  #last: Kind = 'work';
  readonly #underWay = new Map<Kind, Taking>();
  #isDrained = false;
  readonly #drained = Promise.withResolvers<void>();
  #closed: Promise<void> | undefined;

  constructor(transport: Transport, options: BatcherOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#pace = (options.pace ?? atOnce)(() => this.#start());
    this.#edits = createEditQueue(options);
  }

  edit(waiting: WaitingEdit): void {
    this.#refuseWhenClosed('edit');
    this.#edits.push(waiting);
    this.#pace.soon();
  }

  settle(waiting: WaitingSettlement): void {
    this.#refuseWhenClosed('settle');
    this.#settlements.push(waiting);
    this.#pace.soon();
  }

  work(): void {
    if (this.#closed !== undefined) return;
    this.#isWorkAsked = true;
    this.#pace.soon();
  }

  attach(worker: Worker): void {
    assert(this.#worker === undefined, 'Cannot attach a worker: one is already attached');
    this.#worker = worker;
  }

  handOut(body: () => void): void {
    this.#pace.handOut(body);
  }

  waiting(): Waiting {
    return { edits: this.#edits.size(), settlements: this.#settlements.length };
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

  /**
   * Sends whatever may be sent now. The pace calls it after new work arrived and after a batch was
   * answered.
   */
  #start(): void {
    for (let turn = this.#turn(); turn !== undefined; turn = this.#turn()) {
      void (turn === 'write' ? this.#writeBatch() : this.#workBatch());
    }
    if (this.#closed === undefined || this.#underWay.size > 0 || this.#isDrained) return;
    this.#isDrained = true;
    this.handOut(() => this.#drained.resolve()); // After the last replies.
  }

  #end(kind: Kind): void {
    this.#underWay.delete(kind);
    this.#pace.soon();
  }

  #turn(): Kind | undefined {
    const mayWork = this.#mayWork();
    if (!this.#mayWrite()) return mayWork ? 'work' : undefined;
    return mayWork && this.#isWorkDue() ? 'work' : 'write';
  }

  #isWorkDue(): boolean {
    return this.#isWorkAsked && this.#last === 'write' && !this.#isAllJoined();
  }

  /**
   * Not in parallel with work that takes leases, since the same room would be offered twice; nor
   * before work whose turn it is.
   */
  #mayWrite(): boolean {
    if (this.#edits.isEmpty() || this.#underWay.has('write')) return false;
    if (!this.#underWay.has('work')) return true;
    return this.#underWay.get('work') === 'nothing' && !this.#isWorkDue();
  }

  #mayWork(): boolean {
    if (this.#underWay.has('work')) return false;
    if (this.#isJoined() && this.#underWay.has('write')) return false; // Queued work joins the next batch of edits.
    return this.#settlements.length > 0 || (this.#isWorkAsked && this.#mayLease());
  }

  /**
   * Outcomes join edits. But after a failure each is sent on its own: a disk that is too full for
   * publishes may have room to record deliveries.
   */
  #isJoined(): boolean {
    return this.#options.kinds !== 'apart' && !this.#isRefused;
  }

  /**
   * Claims and fan-out steps join too, unless they failed: their rows may be on a damaged part of
   * the disk, or need more space.
   */
  #isAllJoined(): boolean {
    return this.#isJoined() && !this.#isTakeUpRefused;
  }

  #mayLease(): boolean {
    return this.#underWay.get('write') !== 'leases';
  }

  async #writeBatch(): Promise<void> {
    const taken = this.#edits.take();
    const edits = taken.map(({ call }) => call);
    const offer = edits.some(({ verb }) => verb === 'publish') ? this.#ask('offer') : undefined;
    const outcomes = this.#isJoined() ? this.#takeOutcomes() : [];
    const takeUp = this.#isAllJoined() && this.#isWorkAsked ? this.#takeUp() : undefined;
    this.#taking('write', offer ?? takeUp?.claim ?? takeUp?.fanOut);
    const settlements = outcomes.map(({ settlement }) => settlement);
    const nowMs = this.#options.nowMs();
    const sent = this.#begin('edits', taken.length + outcomes.length);
    const batch = { nowMs, settlements, edits, offer, takeUp };
    const fresh = freshFrom(batch, (deliveries) => this.#worker?.foresee?.(deliveries));
    const reply = await reached<BatchReply>(this.#transport.send(batch, fresh.foretell));
    sent.answered(reply.kind === 'written');
    this.#isRefused = reply.kind !== 'written';
    this.#isTakeUpRefused ||= takeUp !== undefined && this.#isRefused;
    const isWhole =
      reply.kind === 'written' &&
      reply.edits.length === edits.length &&
      reply.settled.length === outcomes.length &&
      (takeUp === undefined || reply.worked !== undefined);
    if (!isWhole) {
      if (takeUp !== undefined) this.#worker?.refused();
      refuseAll([...outcomes, ...taken], reply.kind === 'written' ? tooShort() : failureOf(reply));
    } else {
      this.#worker?.take(fresh.of(reply.born), reply.outlook);
      if (reply.worked !== undefined) this.#worked(reply.worked, takeUp);
      this.handOut(() => {
        answerAll(outcomes, reply.settled);
        answerAll(taken, reply.edits);
      });
    }
    this.#end('write');
  }

  async #workBatch(): Promise<void> {
    const outcomes = this.#takeOutcomes();
    const settlements = outcomes.map(({ settlement }) => settlement);
    const takeUp = this.#mayLease() ? this.#takeUp() : undefined;
    if (settlements.length === 0 && takeUp === undefined) return;
    const { claim, fanOut } = takeUp ?? {};
    this.#taking('work', claim ?? fanOut);
    const work = { nowMs: this.#options.nowMs(), settlements, claim, fanOut };
    const sent = this.#begin('work', outcomes.length);
    const reply = await reached<WorkReply>(this.#transport.work(work));
    sent.answered(reply.kind === 'worked');
    if (takeUp !== undefined) this.#isTakeUpRefused = reply.kind !== 'worked';
    if (reply.kind !== 'worked' || reply.settled.length !== outcomes.length) {
      this.#worker?.refused();
      refuseAll(outcomes, reply.kind === 'worked' ? tooShort() : failureOf(reply));
    } else {
      this.#worked(reply, takeUp);
      this.handOut(() => answerAll(outcomes, reply.settled));
    }
    this.#end('work');
  }

  #takeUp(): TakeUp | undefined {
    this.#isWorkAsked = false;
    const [claim, fanOut] = [this.#ask('claim'), this.#ask('fanOut')];
    return (claim ?? fanOut) === undefined ? undefined : { claim, fanOut };
  }

  #worked(worked: Worked, asked: TakeUp | undefined): void {
    const { claim, fanOut } = asked ?? {};
    this.#worker?.worked(worked, { claim: claim !== undefined, fanOut: fanOut !== undefined });
  }

  #takeOutcomes(): WaitingSettlement[] {
    return this.#settlements.splice(0, this.#options.batchEditsMax);
  }

  #taking(kind: Kind, offer: Offer | undefined): void {
    this.#underWay.set(kind, offer === undefined ? 'nothing' : 'leases');
    // Edits that delay work, where it is sent on its own, have had their turn, too.
    if (offer !== undefined || (kind === 'write' && this.#isJoined())) this.#last = kind;
  }

  #begin(kind: BatchFacts['kind'], size: number): { answered: (isDone: boolean) => void } {
    const { onBatch, monotonicMs = () => 0 } = this.#options;
    const beganMs = monotonicMs();
    return {
      answered: (isDone) => onBatch?.({ kind, size, tookMs: monotonicMs() - beganMs, isDone }),
    };
  }

  /** Leases nothing once the store is closing: this node would not deliver it. */
  #ask(what: 'offer' | 'claim' | 'fanOut'): Offer | undefined {
    return this.#closed === undefined ? this.#worker?.[what]() : undefined;
  }
}
