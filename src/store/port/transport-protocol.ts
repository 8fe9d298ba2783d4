// What passes between the engine and a database: calls, batches and replies as plain values, so
// that a thread, a socket or a simulation can be in between.
import { strict as assert } from 'node:assert';
import type {
  FreshDelivery,
  Offer,
  NextWork,
  Settled,
  Settlement,
  WorkOffers,
  Work,
  Worked,
} from './delivery-verbs.ts';
import {
  type EditInput,
  type EditOutput,
  type EditVerb,
  type ReadInput,
  type ReadOutput,
  type ReadVerb,
  StoreUnavailable,
  VerbFailed,
} from './store.ts';

export type EditCall<V extends EditVerb = EditVerb> = {
  [K in V]: { verb: K; input: EditInput<K> };
}[V];
export type ReadCall<V extends ReadVerb = ReadVerb> = {
  [K in V]: { verb: K; input: ReadInput<K> };
}[V];

/** The app of the call; undefined for calls of the service itself. */
export function appNoOf({ input }: ReadCall): number | undefined {
  return 'appNo' in input ? input.appNo : undefined;
}

/**
 * What is written in one transaction, at one time: outcomes, then edits, then a claim and a fan-out
 * step.
 */
export interface Batch {
  nowMs: number;
  /** Empty for a store with several writers: see QueueLimits. */
  settlements: readonly Settlement[];
  edits: readonly EditCall[];
  /** Fresh deliveries may be inserted with this lease. */
  offer: Offer | undefined;
  /** Only for a store with one writer; for others it is sent as separate work. */
  workOffers?: WorkOffers | undefined;
}

/** Replies are in the order of the calls. */
export type BatchReply =
  | {
      kind: 'written';
      settled: readonly SettleReply[];
      edits: readonly EditReply[];
      /** The last edits that the time for a batch was too short for: nothing of them was done. Absent: none. */
      postponed?: number | undefined;
      fresh: readonly FreshDelivery[];
      nextWork: NextWork;
      /** Present if the batch had a claim or a fan-out step. */
      worked?: Worked | undefined;
    }
  | StoreFailure;
export type EditReply = { kind: 'done'; output: EditOutput<EditVerb> } | VerbFailure;

/** Replies to settlements are in their order. */
export type WorkReply =
  | ({ kind: 'worked'; settled: readonly SettleReply[] } & Worked)
  | StoreFailure;
export type SettleReply = { kind: 'done'; output: Settled } | VerbFailure;

export type ReadReply = { kind: 'done'; output: ReadOutput<ReadVerb> } | VerbFailure | StoreFailure;

/**
 * Only this call violated a rule of the database or of the program; the rest of its batch
 * succeeded.
 */
export interface VerbFailure {
  kind: 'failed';
  message: string;
  /** The stack of the original error, for the log. */
  trace: string;
}

/** The store itself failed. Fatal: the state of the disk is unknown, and the process must end. */
export interface StoreFailure {
  kind: 'unavailable' | 'fatal';
  message: string;
  trace: string;
}

/** The connection to a database. Rejects only when the connection itself fails. */
export interface Transport {
  send(batch: Batch): Promise<BatchReply>;
  work(work: Work): Promise<WorkReply>;
  read(call: ReadCall): Promise<ReadReply>;
  /** Replies to what was sent, then releases the database. */
  close(): Promise<void>;
}

export function editCall<V extends EditVerb>(verb: V, input: EditInput<V>): EditCall {
  return follow({ verb, input });
}

export function readCall<V extends ReadVerb>(verb: V, input: ReadInput<V>): ReadCall {
  return follow({ verb, input });
}

/** Types an output as that of `verb`. The reply must be the one for that verb's call. */
export function editOutput<V extends EditVerb>(
  _verb: V,
  output: EditOutput<EditVerb>,
): EditOutput<V> {
  return follow(output);
}

export function readOutput<V extends ReadVerb>(
  _verb: V,
  output: ReadOutput<ReadVerb>,
): ReadOutput<V> {
  return follow(output);
}

// TypeScript cannot follow one verb of many through a list and back. The four functions above
// assert what is known: a call is made of one verb's parts, and its reply answers that verb.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is what an assertion is
function follow<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place; see above
  return value as T;
}

// Reads that deliveries and requests wait for, each of one or a few rows. Lists must never delay
// them.

export const hotReads: ReadonlySet<ReadVerb> = new Set([
  'targets',
  'key',
  'session',
  'health',
  'app',
  'event',
  'eventType',
  'eventTypeVersions',
]);

// Converts failures, which cross the transport as plain values, to the errors of the Store port.

export function toError(failure: StoreFailure | VerbFailure): StoreUnavailable | VerbFailed {
  const { kind, message, trace } = failure;
  if (kind === 'failed') return new VerbFailed(message, { cause: trace });
  return new StoreUnavailable(`The store failed: ${message}`, { cause: trace });
}

/** For a rejection of a transport: the connection to the store failed. */
export function unreachable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  return new StoreUnavailable('Cannot reach the store', { cause: error });
}

/** Treats work as a batch without edits, so that a store with one writer has one code path. */
export function asBatch({ nowMs, settlements, claim, fanOut }: Work): Batch {
  return { nowMs, settlements, edits: [], offer: undefined, workOffers: { claim, fanOut } };
}

export function asWorkReply(reply: BatchReply): WorkReply {
  if (reply.kind !== 'written') return reply;
  assert(reply.worked !== undefined, 'The reply to work lacks what was claimed');
  return { kind: 'worked', settled: reply.settled, ...reply.worked };
}
