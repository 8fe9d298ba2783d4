// Whatever takes an event over HTTP and brings it to a receiver, as the bench sees it.
import type { Load } from '../harness/load.ts';

export interface Contender extends AsyncDisposable {
  name: string;
  /** How to publish to it; each body of an event that one receiver hears, in turn. */
  publish: Pick<Load, 'port' | 'path' | 'headers' | 'bodies'>;
  /** Of its own processes, without a database's: what CPU and memory are read of. */
  pids: readonly number[];
}

/** What the programs beside Ringback are asked when they start. */
export interface Start {
  /** The i-th hears the event `e<i>`. */
  ports: readonly number[];
  /** Of the database, if it has one. */
  url: string;
}
