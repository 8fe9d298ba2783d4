// What crosses the border between the engine and a database: calls, batches and replies as plain
// values, so that a thread, a socket or a simulation can stand in between.
import type {
  Born,
  Offer,
  Outlook,
  Settled,
  Settlement,
  TakeUp,
  Work,
  Worked,
} from './delivery-verbs.ts';
import type { EditInput, EditOutput, EditVerb, ReadInput, ReadOutput, ReadVerb } from './store.ts';

export type EditCall<V extends EditVerb = EditVerb> = {
  [K in V]: { verb: K; input: EditInput<K> };
}[V];
export type ReadCall<V extends ReadVerb = ReadVerb> = {
  [K in V]: { verb: K; input: ReadInput<K> };
}[V];

/** Of the app that asks; undefined where the service itself does. */
export function appNoOf({ input }: ReadCall): number | undefined {
  return 'appNo' in input ? input.appNo : undefined;
}

/** What is written together, at one time: outcomes, then edits, then what is taken up. */
export interface Batch {
  nowMs: number;
  /** None for a store with other writers: see QueueLimits. */
  settlements: readonly Settlement[];
  edits: readonly EditCall[];
  /** Fresh deliveries may be born with this lease. */
  offer: Offer | undefined;
  /** To one writer: to another store it goes as work of its own. */
  takeUp?: TakeUp | undefined;
}

/** Replies stand in the order of the calls. */
export type BatchReply =
  | {
      kind: 'written';
      settled: readonly SettleReply[];
      edits: readonly EditReply[];
      /** The last edits that the time for a batch was too short for: nothing of them was done. Absent: none. */
      postponed?: number | undefined;
      born: readonly Born[];
      outlook: Outlook;
      /** Where something was to be taken up. */
      worked?: Worked | undefined;
    }
  | StoreFailure;
export type EditReply = { kind: 'done'; output: EditOutput<EditVerb> } | VerbFailure;

/** Replies to settlements stand in their order. */
export type WorkReply =
  | ({ kind: 'worked'; settled: readonly SettleReply[] } & Worked)
  | StoreFailure;
export type SettleReply = { kind: 'done'; output: Settled } | VerbFailure;

export type ReadReply = { kind: 'done'; output: ReadOutput<ReadVerb> } | VerbFailure | StoreFailure;

/** This one call broke a rule of the database or of the program; its neighbours did not suffer. */
export interface VerbFailure {
  kind: 'failed';
  message: string;
  /** The stack where it happened, for the log. */
  trace: string;
}

/** The store itself failed. Fatal: what is on the disk is in doubt, and the process must end. */
export interface StoreFailure {
  kind: 'unavailable' | 'fatal';
  message: string;
  trace: string;
}

export type Foretell = (born: readonly Born[]) => void;

/** The way to a database. It rejects only when the way itself breaks. */
export interface Transport {
  /** `foretell` is told what will be born, if all goes well; if it does at this try, the reply holds the very same list. */
  send(batch: Batch, foretell?: Foretell): Promise<BatchReply>;
  work(work: Work): Promise<WorkReply>;
  read(call: ReadCall): Promise<ReadReply>;
  /** Answers what was sent, then lets go of the database. */
  close(): Promise<void>;
}

export function editCall<V extends EditVerb>(verb: V, input: EditInput<V>): EditCall {
  return follow({ verb, input });
}

export function readCall<V extends ReadVerb>(verb: V, input: ReadInput<V>): ReadCall {
  return follow({ verb, input });
}

/** The output as what `verb` gives. The reply must be the one at the place of that verb's call. */
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

// TypeScript cannot follow one verb of many through a list and back. The four functions above say
// what is known: a call is made of one verb's parts, and its reply answers that verb.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it is what an assertion is
function follow<T>(value: unknown): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place; see above
  return value as T;
}
