// The table of all management handlers, by operationId of our own contract.
import type { Contracts } from '../../contract/compile/contracts.ts';
import type { Family } from '../../core/telemetry/metric.ts';
import type { Identifier } from '../../engine/access/identify.ts';
import type { Liveness } from '../../engine/cluster/liveness.ts';
import type { Context } from '../../engine/context.ts';
import type { EventTypes } from '../../engine/publish/event-types.ts';
import type { StreamHub } from '../../engine/live/stream.ts';
import type { ConsoleFiles } from '../console/files.ts';
import type { Pages } from '../pages/pages.ts';
import type { Handlers } from '../request/call.ts';
import { appHandlers } from './apps.ts';
import { auditHandlers } from './audit.ts';
import { consoleHandlers, sessionHandlers } from './console.ts';
import { deliveryHandlers } from './deliveries.ts';
import { eventHandlers, eventTypeHandlers } from './events.ts';
import { keyHandlers } from './keys.ts';
import { portalHandlers, type PortalSettings } from './portal.ts';
import { replayHandlers } from './replays.ts';
import { metricsHandlers, nodeHandlers, serviceHandlers, type ServiceDeps } from './service.ts';
import { statsHandlers } from './stats.ts';
import { streamHandlers } from './stream.ts';
import { exchangeHandlers, subscriptionHandlers } from './subscriptions.ts';

export interface HandlerDeps {
  context: Context;
  identifier: Identifier;
  contracts: Contracts;
  pages: Pages;
  isLenient: boolean;
  types: EventTypes | undefined;
  /** This node. */
  self: Pick<Liveness, 'no' | 'isFresh' | 'name' | 'role'>;
  /** The store with the short deadlines of the readiness probe. */
  probed: ServiceDeps['store'];
  failures: ServiceDeps['failures'];
  /** Without a trailing slash; known by the first request. */
  publicUrl: () => string;
  /** Undefined if the console was not built. */
  consoleFiles: ConsoleFiles | undefined;
  portal: PortalSettings;
  hub: Pick<StreamHub, 'open'>;
  metrics: () => Promise<readonly Family[]>;
}

export function managementHandlers(deps: HandlerDeps): Handlers {
  const { context, identifier, contracts, isLenient, types, self } = deps;
  const { probed, publicUrl, consoleFiles } = deps;
  const rules = { contracts: contracts.executed, isLenient, types };
  return {
    ...subscriptionHandlers(context),
    ...exchangeHandlers({ context, contracts, publicUrl }),
    ...eventHandlers(context, rules),
    ...eventTypeHandlers(context, rules, deps.pages.eventTypes),
    ...deliveryHandlers(context),
    ...replayHandlers(context, contracts.prefix),
    ...streamHandlers(deps.hub),
    ...keyHandlers(context, identifier),
    ...appHandlers(context),
    ...auditHandlers(context),
    ...statsHandlers(context),
    ...nodeHandlers(context, self),
    ...metricsHandlers(deps.metrics),
    ...sessionHandlers({ context, identifier, publicUrl }),
    ...consoleHandlers(consoleFiles),
    ...portalHandlers({
      context,
      identifier,
      publicUrl,
      prefix: contracts.prefix,
      addsEndpoints: contracts.builtIn !== undefined,
      files: consoleFiles,
      settings: deps.portal,
    }),
    ...serviceHandlers({
      contracts,
      pages: deps.pages,
      self,
      store: probed,
      world: context.world,
      failures: deps.failures,
    }),
  };
}
