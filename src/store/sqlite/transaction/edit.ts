// The type of edits that only this adapter has, because they are hot or differ between databases.
// Each prepares its statements once, when the database is opened, and returns the function that
// runs them.
import type { Fact } from '../../statistics/transaction-facts.ts';
import type { InsertLeases } from '../../rules/offer-slots.ts';
import type { EditInput, EditOutput, EditVerb } from '../../port/store.ts';
import type { Lane } from '../../../core/domain/lane.ts';
import type { KnownRules, Listener } from '../../rules/listeners.ts';

export interface InsertContext {
  /** The time of the batch. */
  nowMs: number;
  /** Room for fresh deliveries on the node that sent the batch. */
  insertLeases: InsertLeases;
  /** Receives the facts of the batch for statistics. */
  facts: Fact[];
}

export interface EditContext extends InsertContext {
  /** Results of reads for the publishes just before this one. */
  memo: PublishMemo;
}

export type Edit<V extends EditVerb> = (input: EditInput<V>, context: EditContext) => EditOutput<V>;

// Results of reads that one publish shares with the next ones of its batch: nothing else is written
// in between. A batch of events to many subscriptions with filters would otherwise read every
// filter again for every event, which takes up to a hundred times as long.

/** Lanes that were read, by number. */
export type LanesMet = Map<number, Lane>;

export interface PublishMemo {
  lanes: LanesMet;
  rules: KnownRules;
  /**
   * By app, contract and name of the event; undefined: too many match, so they are left to a
   * fan-out.
   */
  listeners: Map<string, readonly Listener[] | undefined>;
  /** By app and contract: whether any subscription has a subject. */
  subjects: Map<string, boolean>;
  /** Span of the current slice: searches find events only within the stored span. */
  span: { slice: number; first: string; last: string } | undefined;
}

export function emptyMemo(): PublishMemo {
  return {
    lanes: new Map(),
    rules: new Map(),
    listeners: new Map(),
    subjects: new Map(),
    span: undefined,
  };
}
