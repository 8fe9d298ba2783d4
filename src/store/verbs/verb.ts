// The shape of a verb that both databases share. A limit is written `?n + 0`: SQLite plans for the value
// of a bare parameter, and so compiles the statement again at each call (3 to 35 µs, measured).
import type { Fact } from '../counting.ts';
import type { Script } from '../statement.ts';
import type { EditInput, EditOutput, EditVerb, ReadInput, ReadOutput, ReadVerb } from '../store.ts';

/** `nowMs`: the time of the batch. `facts`: what it does to deliveries is noted here. */
export type Edit<V extends EditVerb> = (
  input: EditInput<V>,
  nowMs: number,
  facts: Fact[],
) => Script<EditOutput<V>>;
export type Read<V extends ReadVerb> = (input: ReadInput<V>) => Script<ReadOutput<V>>;
