// The table of all management handlers, by operationId of our own contract.
import type { Family } from '../core/telemetry/metric.ts';
import type { Contracts } from '../contract/compile/contracts.ts';
import type { Context } from '../engine/context.ts';
import type { Identifier } from '../engine/access/identify.ts';
import type { Liveness } from '../engine/cluster/liveness.ts';
import type { StreamHub } from '../engine/live/stream.ts';
import type { Handlers } from './call.ts';
import type { ConsoleFiles } from './console/files.ts';
import { appHandlers } from './handlers/apps.ts';
import type { Pages } from './pages/pages.ts';
import { consoleHandlers } from './handlers/console.ts';
import { deliveryHandlers } from './handlers/deliveries.ts';
import { eventHandlers } from './handlers/events.ts';
import { keyHandlers } from './handlers/keys.ts';
import { metricsHandlers } from './handlers/metrics.ts';
import { nodeHandlers } from './handlers/nodes.ts';
import { replayHandlers } from './handlers/replays.ts';
import { sessionHandlers } from './handlers/sessions.ts';
import { serviceHandlers, type ServiceMeans } from './handlers/service.ts';
import { statsHandlers } from './handlers/stats.ts';
import { streamHandlers } from './handlers/stream.ts';
import { subscriptionHandlers } from './handlers/subscriptions.ts';

export interface HandlerMeans {
  context: Context;
  identifier: Identifier;
  contracts: Contracts;
  pages: Pages;
  isLenient: boolean;
  /** This node. */
  self: Pick<Liveness, 'no' | 'isFresh' | 'name' | 'role'>;
  /** The store with the short deadlines of the readiness probe. */
  probed: ServiceMeans['store'];
  failures: ServiceMeans['failures'];
  /** Without a trailing slash; known by the first request. */
  publicUrl: () => string;
  /** Undefined if the console was not built. */
  consoleFiles: ConsoleFiles | undefined;
  hub: Pick<StreamHub, 'open'>;
  metrics: () => Promise<readonly Family[]>;
}

export function managementHandlers(means: HandlerMeans): Handlers {
  const { context, identifier, contracts, isLenient, self, probed, publicUrl, consoleFiles } =
    means;
  return {
    ...subscriptionHandlers(context),
    ...eventHandlers(context, { contracts: contracts.executed, isLenient }, means.pages.eventTypes),
    ...deliveryHandlers(context),
    ...replayHandlers(context),
    ...streamHandlers(means.hub),
    ...keyHandlers(context, identifier),
    ...appHandlers(context),
    ...statsHandlers(context),
    ...nodeHandlers(context, self),
    ...metricsHandlers(means.metrics),
    ...sessionHandlers({ context, identifier, publicUrl }),
    ...consoleHandlers(consoleFiles),
    ...serviceHandlers({
      contracts,
      pages: means.pages,
      self,
      store: probed,
      world: context.world,
      failures: means.failures,
    }),
  };
}
