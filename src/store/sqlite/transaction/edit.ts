// The type of edits that only this adapter has, because they are hot or differ between databases.
// Each prepares its statements once, when the database is opened, and returns the function that
// runs them.
import type { Fact } from '../../statistics/transaction-facts.ts';
import type { PublishMemo } from './publish-memo.ts';
import type { Births } from '../../rules/offer-slots.ts';
import type { EditInput, EditOutput, EditVerb } from '../../port/store.ts';

export interface BirthContext {
  /** The time of the batch. */
  nowMs: number;
  /** Room for fresh deliveries on the node that sent the batch. */
  births: Births;
  /** Receives the facts of the batch for statistics. */
  facts: Fact[];
}

export interface EditContext extends BirthContext {
  /** Results of reads for the publishes just before this one. */
  known: PublishMemo;
}

export type Edit<V extends EditVerb> = (input: EditInput<V>, context: EditContext) => EditOutput<V>;
