// The types of verbs that both databases share. Write a limit as `?n + 0`: SQLite plans for the
// value of a bare parameter, and so would compile the statement again at each call.
import type { Fact } from '../../statistics/transaction-facts.ts';
import type { Script } from '../../sql/statement.ts';
import type {
  EditInput,
  EditOutput,
  EditVerb,
  ReadInput,
  ReadOutput,
  ReadVerb,
} from '../../port/store.ts';

/**
 * `nowMs`: the time of the batch. `facts`: receives what the edit does to deliveries, for
 * statistics.
 */
export type Edit<V extends EditVerb> = (
  input: EditInput<V>,
  nowMs: number,
  facts: Fact[],
) => Script<EditOutput<V>>;
export type Read<V extends ReadVerb> = (input: ReadInput<V>) => Script<ReadOutput<V>>;
