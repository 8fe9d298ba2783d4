// The table of all management handlers, by operationId of our own contract.
import type { Contract } from '../contract/contract.ts';
import type { Context } from '../engine/context.ts';
import type { Identifier } from '../engine/identify.ts';
import type { Handlers } from './call.ts';
import { appHandlers } from './handlers/apps.ts';
import { deliveryHandlers } from './handlers/deliveries.ts';
import { eventHandlers } from './handlers/events.ts';
import { keyHandlers } from './handlers/keys.ts';
import { serviceHandlers } from './handlers/service.ts';
import { subscriptionHandlers } from './handlers/subscriptions.ts';

export interface HandlerMeans {
  context: Context;
  identifier: Identifier;
  contract: Contract;
}

export function managementHandlers({ context, identifier, contract }: HandlerMeans): Handlers {
  return {
    ...subscriptionHandlers(context),
    ...eventHandlers(context, contract),
    ...deliveryHandlers(context),
    ...keyHandlers(context, identifier),
    ...appHandlers(context),
    ...serviceHandlers(context, contract),
  };
}
