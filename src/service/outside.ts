// What the service takes from the world outside; a test gives its own.
import type { Logger } from 'pino';
import type { LogFact } from '../core/log-fact.ts';
import type { Tracer } from '../core/trace.ts';
import type { World } from '../core/world.ts';
import type { DialOptions } from '../egress/connect.ts';
import type { Resolver } from '../egress/resolve.ts';
import type { OpenStore } from '../store/open.ts';

export interface Outside {
  world: World;
  log: Logger;
  logFact?: LogFact | undefined;
  resolver?: Resolver;
  /** How connections are made, where a test wants to see them. */
  network?: Pick<DialOptions, 'connector' | 'tls'>;
  /** Collects spans, where somebody wants them. */
  tracer?: Tracer | undefined;
  /** How the store is opened, where a test wants it to fail. */
  openStore?: OpenStore;
  /** The store is in doubt (a failed fsync, a dead thread): the process must end. */
  onFatal: (error: Error) => void;
}
