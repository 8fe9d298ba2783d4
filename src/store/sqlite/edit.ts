// The shape of an edit that only this adapter has, because it is hot or differs: it prepares its
// statements once, on opening, and gives back the function that runs them.
import type { Fact } from '../counting.ts';
import type { Known } from './known.ts';
import type { Births } from '../slots.ts';
import type { EditInput, EditOutput, EditVerb } from '../store.ts';

export interface BirthContext {
  /** The time of the batch. */
  nowMs: number;
  /** Room for fresh deliveries on the node that sent the batch. */
  births: Births;
  /** What the batch does, to be counted. */
  facts: Fact[];
}

export interface EditContext extends BirthContext {
  /** What was read for the publishes right before this one. */
  known: Known;
}

export type Edit<V extends EditVerb> = (input: EditInput<V>, context: EditContext) => EditOutput<V>;
