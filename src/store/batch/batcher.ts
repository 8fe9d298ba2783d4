// Group commit: one batch is written while the next one accumulates, so that many edits share one fsync. A store with
// one writer gets everything that is pending in one batch: outcomes, edits and claims. A store with several writers
// gets publishes, other edits and outcomes over a connection each, so that no publish waits for another edit.
import type { HandOut } from '../../core/load/batch-pacer.ts';
import type { Settled, Settlement, Worker } from '../port/delivery-verbs.ts';
import {
  type EditInput,
  type EditOutput,
  type EditVerb,
  type Queued,
  type Waiting,
} from '../port/store.ts';
import { editCall, editOutput, type Transport, toError } from '../port/transport-protocol.ts';
import { BatchCycle, type BatcherOptions } from './batch-cycle.ts';
import type { WaitingEdit } from './edit-queue.ts';

export type { BatcherOptions };

export interface Batcher {
  edit: <V extends EditVerb>(
    verb: V,
    input: EditInput<V>,
    queued?: Queued,
  ) => Promise<EditOutput<V>>;
  settle: (settlement: Settlement) => Promise<Settled>;
  /** Requests a work cycle, even if there is nothing to settle. */
  work: () => void;
  attach: (worker: Worker) => void;
  handOut: HandOut;
  waiting: () => Waiting;
  /** Refuses new calls, finishes accepted ones, then closes the transport. */
  close: () => Promise<void>;
}

/**
 * Sharing a transaction between hundreds of callers gives several times the rate of one transaction
 * per edit (bench/parts/store-edits.ts).
 */
export function createBatcher(transport: Transport, options: BatcherOptions): Batcher {
  const cycle = new BatchCycle(transport, options);
  return {
    edit: (verb, input, queued) =>
      new Promise<EditOutput<typeof verb>>((resolve, reject) => {
        const edit: WaitingEdit = {
          call: editCall(verb, input),
          answer: (reply) => {
            if (reply.kind === 'done') resolve(editOutput(verb, reply.output));
            else reject(toError(reply));
          },
          refuse: reject,
        };
        queued?.(() => cycle.withdraw(edit));
        cycle.edit(edit);
      }),
    settle: (settlement) =>
      new Promise<Settled>((resolve, reject) =>
        cycle.settle({
          settlement,
          answer: (reply) => {
            if (reply.kind === 'done') resolve(reply.output);
            else reject(toError(reply));
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
