// What the service takes from the external world; tests supply their own.
import type { Logger } from 'pino';
import type { LogFact } from '../core/telemetry/log-fact.ts';
import type { Tracer } from '../core/telemetry/trace.ts';
import type { World } from '../core/base/world.ts';
import type { DialOptions } from '../egress/http/connect.ts';
import type { Resolver } from '../egress/guard/resolve.ts';
import type { OpenStore } from '../store/open/open.ts';

export interface ExternalDeps {
  world: World;
  log: Logger;
  logFact?: LogFact | undefined;
  resolver?: Resolver;
  /** How connections are made, for tests that observe them. */
  network?: Pick<DialOptions, 'connector' | 'tls'>;
  /** Collects spans, if tracing is on. */
  tracer?: Tracer | undefined;
  /** How the store is opened, for tests that make it fail. */
  openStore?: OpenStore;
  /** The store can no longer be trusted (a failed fsync, a dead thread): the process must end. */
  onFatal: (error: Error) => void;
}
