// Edits that wait for their batch, bounded by number and by the bytes of their payloads. Edits of one app and kind stay
// in order. If not all fit into a batch, apps take turns by events, so that none waits behind a burst of another. An edit can be
// withdrawn until a batch takes it: its caller has given up, and it must not happen later.
import { StoreUnavailable, type EditVerb } from '../port/store.ts';
import type { EditCall, EditReply } from '../port/transport-protocol.ts';

export interface QueueLimits {
  /** Publishes count by their events, subscriptions by their callbacks, everything else counts one. */
  batchEditsMax: number;
  /** As many of one app, while edits of others are waiting. */
  batchEditsOfAppMax?: number;
  editsWaitingMax: number;
  batchPayloadBytesMax: number;
  payloadBytesWaitingMax: number;
  /**
   * `apart`: publishes, other edits and outcomes have a queue and a transaction each, and a batch of other edits
   * holds edits of one kind. It is for databases with several writers: a transaction that locks lanes to publish and
   * then an app to subscribe deadlocks with a node that locks them in the other order. Three nodes with three publishes
   * to a subscribe: 41 deadlocks in 720 calls, 34 s; apart none, 1 s.
   * A single writer gains from one batch for everything, outcomes included, which is the default.
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
  /** What was taken and not handed over after all: it comes first again. */
  putBack(edits: readonly WaitingEdit[]): void;
  /** True: it was waiting, and will not be taken. */
  withdraw(edit: WaitingEdit): boolean;
}

export function createEditQueue(limits: QueueLimits): EditQueue {
  const { batchEditsMax, editsWaitingMax, batchPayloadBytesMax, payloadBytesWaitingMax } = limits;
  const { batchEditsOfAppMax = batchEditsMax } = limits;
  const nextOf = limits.kinds === 'apart' ? ofOneKind : ofAnyKind;
  let waiting = new Set<WaitingEdit>();
  let bytesWaiting = 0;
  const leave = (edit: WaitingEdit): boolean => {
    if (!waiting.delete(edit)) return false;
    bytesWaiting -= payloadBytes(edit.call);
    return true;
  };
  return {
    isEmpty: () => waiting.size === 0,
    size: () => waiting.size,
    push: (edit) => {
      const bytes = payloadBytes(edit.call);
      if (waiting.size >= editsWaitingMax && !isVital(edit.call)) {
        throw new StoreUnavailable(`Cannot edit: ${waiting.size} edits are waiting already`);
      }
      if (bytes > 0 && bytesWaiting > 0 && bytesWaiting + bytes > payloadBytesWaitingMax) {
        throw new StoreUnavailable(`Cannot publish: ${bytesWaiting} bytes are already queued`);
      }
      waiting.add(edit);
      bytesWaiting += bytes;
    },
    take: () => {
      const all = nextOf([...waiting]);
      const sizes = all.reduce((sum, { call }) => sum + sizeOf(call), 0);
      const isAll = sizes <= batchEditsOfAppMax && bytesWaiting <= batchPayloadBytesMax;
      const next = isAll ? all : inTurnsBySize(all, { batchEditsMax, batchEditsOfAppMax });
      const taken: WaitingEdit[] = [];
      let bytesTaken = 0;
      for (const edit of next) {
        const bytes = payloadBytes(edit.call);
        const isTooMuch = bytes > 0 && bytesTaken + bytes > batchPayloadBytesMax;
        if (taken.length > 0 && isTooMuch) break;
        bytesTaken += bytes;
        taken.push(edit);
      }
      for (const edit of taken) leave(edit);
      return taken;
    },
    putBack: (edits) => {
      waiting = new Set([...edits, ...waiting]);
      for (const { call } of edits) bytesWaiting += payloadBytes(call);
    },
    withdraw: leave,
  };
}

/**
 * The edits that the next batch may take, of each app in its own order. An edit goes before those
 * before which more of their app is taken (start-time fair queueing). So small publishes of one app
 * never wait for more than one batch publish of each other app, and the first edit of each app is
 * taken, whatever its size.
 */
function inTurnsBySize(
  waiting: readonly WaitingEdit[],
  { batchEditsMax, batchEditsOfAppMax }: Required<Pick<QueueLimits, SizeLimit>>,
): WaitingEdit[] {
  const byApp = Map.groupBy(waiting, appOf);
  const most = byApp.size > 1 ? batchEditsOfAppMax : batchEditsMax;
  const placed = [...byApp.values()].flatMap((edits) => {
    let end = 0;
    return edits
      .map((edit) => ({ edit, start: end, end: (end += sizeOf(edit.call)) }))
      .filter((one) => one.start === 0 || one.end <= most);
  });
  const ordered = placed.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let size = 0;
  const next = ordered.filter(({ start, end }) => {
    size += end - start;
    return start === 0 || size <= batchEditsMax;
  });
  return next.map(({ edit }) => edit);
}

type SizeLimit = 'batchEditsMax' | 'batchEditsOfAppMax';

/** What is of no app is as if of one more. */
function appOf({ call }: WaitingEdit): number | undefined {
  if (call.verb === 'subscribe') return call.input.subscription.appNo;
  return 'appNo' in call.input ? call.input.appNo : undefined;
}

function ofAnyKind(waiting: readonly WaitingEdit[]): readonly WaitingEdit[] {
  return waiting;
}

/** The edits of the kind that came first; heartbeats and other vital edits go before all others. */
function ofOneKind(waiting: readonly WaitingEdit[]): readonly WaitingEdit[] {
  const first = waiting.find(({ call }) => isVital(call)) ?? waiting[0];
  if (first === undefined) return [];
  const kind = kindOf(first);
  return waiting.filter((one) => kindOf(one) === kind);
}

/**
 * A rescue and a sweep lock lanes of any app, and a step of a replay many of one app, in an order of their own, so
 * no other edit of the transaction may hold locks. Figures concern many apps, too. A batch of subscribes alone is one
 * pipeline on PostgreSQL, however many there are, and so are a batch of unsubscribes and one of confirmations.
 */
const aloneOfKind: ReadonlySet<EditVerb> = new Set([
  'publish',
  'subscribe',
  'unsubscribe',
  'confirmSubscription',
  'rescue',
  'sweep',
  'advanceReplay',
  'keepStatistics',
  'tidyStatistics',
]);

function kindOf({ call }: WaitingEdit): EditVerb | 'vital' | 'other' {
  if (isVital(call)) return 'vital';
  return aloneOfKind.has(call.verb) ? call.verb : 'other';
}

/** A node whose heartbeat is refused because the queue is full would be declared gone. */
function isVital({ verb }: EditCall): boolean {
  return verb === 'heartbeat' || verb === 'startNode' || verb === 'stopNode';
}

/** In rows, nearly. */
function sizeOf(call: EditCall): number {
  if (call.verb === 'publish') return Math.max(call.input.events.length, 1);
  return call.verb === 'subscribe' ? Math.max(call.input.subscription.callbacks.length, 1) : 1;
}

function payloadBytes(call: EditCall): number {
  if (call.verb !== 'publish') return 0;
  return call.input.events.reduce((sum, { payload }) => sum + payload.byteLength, 0);
}

// Resolves or rejects all callers that wait for one batch.

export interface Awaiting<R> {
  answer(reply: R): void;
  refuse(error: Error): void;
}

export function answerAll<R>(waiting: readonly Awaiting<R>[], replies: readonly R[]): void {
  for (const [index, reply] of replies.entries()) waiting[index]?.answer(reply);
}

export function refuseAll(waiting: readonly Pick<Awaiting<never>, 'refuse'>[], error: Error): void {
  for (const one of waiting) one.refuse(error);
}
