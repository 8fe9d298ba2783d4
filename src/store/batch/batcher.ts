// Group commit: one batch is being written while the next one gathers, so that many edits share one
// fsync. No timers: a batch is whatever came in meanwhile, and a lone edit goes at once, or after a turn or some of the
// event loop, as the pace has it. To a store with one writer all that waits goes together, outcomes, edits and the
// work of deliveries. To another one publishes, other edits and outcomes have a connection each, and no publish waits for
// another edit; publishes and claims take turns, since both would be offered the same room.
import type { HandOut } from '../../core/load/pace.ts';
import type { Settled, Settlement, Worker } from '../port/delivery-verbs.ts';
import {
  StoreUnavailable,
  type EditInput,
  type EditOutput,
  type EditVerb,
  type Queued,
  type Waiting,
} from '../port/store.ts';
import {
  editCall,
  editOutput,
  type Transport,
  type StoreFailure,
} from '../port/transport-protocol.ts';
import { Cycle, type BatcherOptions } from './batch-cycle.ts';
import type { WaitingEdit } from './edit-queue.ts';
import { toError, unreachable } from './failure-to-error.ts';

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
  const cycle = new Cycle(transport, options);
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

// The reply of the store, or the failure of the transport.

interface Unreached {
  kind: 'unreached';
  error: Error;
}

export async function reached<R>(asked: Promise<R>): Promise<R | Unreached> {
  try {
    return await asked;
  } catch (error) {
    return { kind: 'unreached', error: unreachable(error) };
  }
}

export function failureOf(failure: StoreFailure | Unreached): Error {
  return failure.kind === 'unreached' ? failure.error : toError(failure);
}

export function tooShort(): Error {
  return new StoreUnavailable('The store failed: its reply does not answer every call');
}

// Facts about one batch, for metrics.

export interface BatchFacts {
  kind: 'edits' | 'work';
  /** Number of edits and settlements. */
  size: number;
  tookMs: number;
  /** False: the store failed, and nothing in the batch was acknowledged. */
  isDone: boolean;
}
