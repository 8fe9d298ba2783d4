// The queue of edits, bounded by number and by payload bytes. Edits of one app stay in order. When
// not all fit into a batch, apps take turns, so that none waits behind a flood of another.
import type { Awaiting } from './answer-all.ts';
import type { EditCall, EditReply } from './call.ts';
import { inTurns } from './fair-order.ts';
import type { EditVerb } from './store.ts';
import { StoreUnavailable } from './store.ts';

export interface QueueLimits {
  batchEditsMax: number;
  editsWaitingMax: number;
  batchPayloadBytesMax: number;
  payloadBytesWaitingMax: number;
  /**
   * `apart`: a batch holds edits of one kind, and outcomes are sent in parallel. For a database
   * with several writers: a node that locks lanes to publish and then an app to subscribe deadlocks
   * with another node that does it in the opposite order. A single writer gains from one batch for
   * everything, outcomes included, which is the default.
   */
  kinds?: 'together' | 'apart';
}

export interface WaitingEdit extends Awaiting<EditReply> {
  call: EditCall;
}

export interface EditQueue {
  isEmpty(): boolean;
  size(): number;
  /** Throws StoreUnavailable when the queue is full. */
  push(edit: WaitingEdit): void;
  /** The next batch: at least one edit, if there is any. */
  take(): WaitingEdit[];
}

interface Waiting {
  edit: WaitingEdit;
  bytes: number;
}

export function createEditQueue(limits: QueueLimits): EditQueue {
  const { batchEditsMax, editsWaitingMax, batchPayloadBytesMax, payloadBytesWaitingMax } = limits;
  const nextOf = limits.kinds === 'apart' ? ofOneKind : ofAnyKind;
  let waiting: Waiting[] = [];
  let bytesWaiting = 0;
  return {
    isEmpty: () => waiting.length === 0,
    size: () => waiting.length,
    push: (edit) => {
      const bytes = payloadBytes(edit.call);
      if (waiting.length >= editsWaitingMax && !isVital(edit.call)) {
        throw new StoreUnavailable(`Cannot edit: ${waiting.length} edits are already queued`);
      }
      if (bytes > 0 && bytesWaiting > 0 && bytesWaiting + bytes > payloadBytesWaitingMax) {
        throw new StoreUnavailable(`Cannot publish: ${bytesWaiting} bytes are already queued`);
      }
      waiting.push({ edit, bytes });
      bytesWaiting += bytes;
    },
    take: () => {
      const all = nextOf(waiting);
      const isAll = all.length <= batchEditsMax && bytesWaiting <= batchPayloadBytesMax;
      const next = isAll ? all : inTurns(Map.groupBy(all, appOf).values());
      let count = 0;
      let bytesTaken = 0;
      for (const { bytes } of next) {
        const isTooMuch = bytesTaken + bytes > batchPayloadBytesMax;
        if (count === batchEditsMax || (count > 0 && bytes > 0 && isTooMuch)) break;
        count += 1;
        bytesTaken += bytes;
      }
      bytesWaiting -= bytesTaken;
      const taken = new Set(next.slice(0, count));
      waiting = waiting.filter((one) => !taken.has(one));
      return Array.from(taken, ({ edit }) => edit);
    },
  };
}

/** Edits without an app share a queue of their own. A publish stays behind an earlier subscribe. */
function appOf({ edit: { call } }: Waiting): number | undefined {
  if (call.verb === 'subscribe') return call.input.subscription.appNo;
  return 'appNo' in call.input ? call.input.appNo : undefined;
}

function ofAnyKind(waiting: readonly Waiting[]): readonly Waiting[] {
  return waiting;
}

/**
 * Edits of the kind that came first. Publishes overtake nothing: one that came after a subscribe
 * must find the subscription. Other edits may overtake publishes that are not acknowledged yet, so
 * that a mixture of both makes few batches.
 */
function ofOneKind(waiting: readonly Waiting[]): readonly Waiting[] {
  const [first] = waiting;
  if (first === undefined) return [];
  const kind = kindOf(first);
  if (kind !== 'publish') return waiting.filter((one) => kindOf(one) === kind);
  const end = waiting.findIndex((one) => kindOf(one) !== kind);
  return end === -1 ? waiting : waiting.slice(0, end);
}

/**
 * These must not share a transaction with edits that lock rows first: a rescue and a sweep lock
 * lanes of any app, and a step of a replay many lanes of one, in their own order. Figures belong to
 * many apps, too.
 */
const aloneOfKind: ReadonlySet<EditVerb> = new Set([
  'publish',
  'rescue',
  'sweep',
  'advanceReplay',
  'keepFigures',
  'tidyFigures',
]);

function kindOf({ edit: { call } }: Waiting): EditVerb | 'other' {
  return aloneOfKind.has(call.verb) ? call.verb : 'other';
}

/** A node whose heartbeat is refused because the queue is full would be declared gone. */
function isVital({ verb }: EditCall): boolean {
  return verb === 'heartbeat' || verb === 'startNode' || verb === 'stopNode';
}

function payloadBytes(call: EditCall): number {
  if (call.verb !== 'publish') return 0;
  return call.input.events.reduce((sum, { payload }) => sum + payload.byteLength, 0);
}
