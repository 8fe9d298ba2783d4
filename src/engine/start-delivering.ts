// Starts what delivers: a node of its own, the dispatcher, and the way a change of a subscription
// reaches deliveries that are under way.
import { hostname } from 'node:os';
import type { Contract } from '../contract/contract.ts';
import { limits } from '../core/limits.ts';
import { version } from '../core/version.ts';
import type { Sender } from '../egress/send.ts';
import type { Context } from './context.ts';
import { deliver } from './deliver.ts';
import { Dispatcher } from './dispatcher.ts';
import { createGate, type Gate } from './gate.ts';
import { createTargetCache, type TargetCache } from './target-cache.ts';

/** What deliveries under way hold of subscriptions, and how they hear that one changed. */
export interface Reach {
  targets: TargetCache;
  gate: Gate;
  changed: Context['changed'];
}

/** `onEnded`: a subscription has ended, and what waits for it can be cancelled. */
export function createReach(store: Context['store'], onEnded: () => void): Reach {
  const targets = createTargetCache(store);
  const gate = createGate();
  return {
    targets,
    gate,
    changed: (subscription, state) => {
      targets.forget(subscription);
      // Whoever has not started goes back, and comes again with what holds then.
      gate.close(subscription, state === 'ended' ? 'ended' : 'held');
      if (state === 'ended') onEnded();
    },
  };
}

export interface DeliveringOptions {
  contracts: readonly Contract[];
  sender: Sender;
  reach: Reach;
  waitsMs: readonly number[];
  timeoutMs: number;
  onError: (error: unknown) => void;
}

export async function startDelivering(
  context: Context,
  options: DeliveringOptions,
): Promise<AsyncDisposable> {
  const { world, store, ring } = context;
  const { contracts, sender, reach, waitsMs, timeoutMs, onError } = options;
  const name = hostname();
  const started = await store.edit('startNode', { name, role: 'all', version, aloneHere: true });
  const means = {
    world,
    ring,
    sender,
    ...reach,
    contracts,
    node: started.node,
    waitsMs,
    timeoutMs,
  };
  const dispatcher = new Dispatcher({
    world,
    store,
    node: started.node,
    deliver: async (leased, signal) => deliver(means, leased, signal),
    onGone: (subscription) => reach.changed(subscription, 'ended'),
    onError,
  });
  // An attempt that is cut off would be made a second time, so a stop waits for the longest.
  const graceMs = Math.max(limits.stopTimeoutMs, timeoutMs + limits.stopMarginMs);
  return { [Symbol.asyncDispose]: async () => dispatcher.stop(graceMs) };
}
