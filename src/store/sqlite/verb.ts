// The shape of a verb in this adapter. Each verb's file prepares its statements once, on opening,
// and gives back the function that runs them. A limit is written `? + 0`: SQLite plans for the value of
// a bare parameter, and so compiles the statement again at each call (3 to 35 µs, measured).
import type { EditInput, EditOutput, EditVerb, ReadInput, ReadOutput, ReadVerb } from '../store.ts';
import type { Births } from './slots.ts';

export interface EditContext {
  /** The time of the batch. */
  nowMs: number;
  /** Room for fresh deliveries on the node that sent the batch. */
  births: Births;
}

export type Edit<V extends EditVerb> = (input: EditInput<V>, context: EditContext) => EditOutput<V>;
export type Read<V extends ReadVerb> = (input: ReadInput<V>) => ReadOutput<V>;
