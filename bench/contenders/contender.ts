// A contender of the benchmark: takes events over HTTP and delivers them to receivers.
import type { Load } from '../harness/load.ts';

export interface Contender extends AsyncDisposable {
  name: string;
  /** How to publish to it: the body of an event for each receiver, in turn. */
  publish: Pick<Load, 'port' | 'path' | 'headers' | 'bodies'>;
  /** Its own processes, without a database's: their CPU and memory are measured. */
  pids: readonly number[];
}

/** What the programs other than Ringback are started with. */
export interface Start {
  /** The i-th receives the event `e<i>`. */
  ports: readonly number[];
  /** The URL of its database, if it has one. */
  url: string;
}
