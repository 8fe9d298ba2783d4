// Starts delivery: the dispatcher, and the path by which a change of a subscription reaches
// deliveries in flight.
import type { Contract } from '../../contract/model/contract.ts';
import { byService } from '../../core/domain/audit.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Sender } from '../../egress/http/send.ts';
import type { Settlement } from '../../store/port/delivery-verbs.ts';
import type { Liveness } from '../cluster/liveness.ts';
import { audited } from '../audit.ts';
import type { Context } from '../context.ts';
import { createPrepare } from '../targets/prepared-target.ts';
import { createTargetCache, type TargetCache } from '../targets/target-cache.ts';
import { deliver } from './attempt.ts';
import { createConfirmer, noConfirmer } from './confirmation.ts';
import { createDeliveryTelemetry, type FactLog } from './delivery-telemetry.ts';
import { Dispatcher, createLongestTimeout } from './dispatcher.ts';
import { createGate, type Gate } from './gate.ts';

/** What deliveries in flight know of subscriptions, and how a change invalidates it. */
export interface Invalidation {
  targets: TargetCache;
  gate: Gate;
  changed: Context['changed'];
}

/** `onEnded`: a subscription has ended, and its pending deliveries can be cancelled. */
export function createInvalidation(
  deps: Pick<Context, 'store' | 'world'>,
  onEnded: () => void,
): Invalidation {
  const targets = createTargetCache(deps);
  const gate = createGate();
  return {
    targets,
    gate,
    changed: (subscription, state) => {
      targets.forget(subscription);
      // Deliveries whose attempt has not started are released, and claimed again in the new state.
      gate.close(subscription, state === 'ended' ? 'ended' : 'held');
      if (state === 'ended') onEnded();
    },
  };
}

export interface DeliveringOptions {
  /** This node. */
  self: Liveness;
  contracts: readonly Contract[];
  sender: Sender;
  invalidation: Invalidation;
  waitsMs: readonly number[];
  timeoutMs: number;
  /** Where log lines go. */
  log?: FactLog | undefined;
  /** The outcome of an attempt was committed. */
  onSettled: (settlement: Settlement) => void;
  /** A subscription was disabled because its receiver failed for days; its bare id. */
  onDisabled: (subscription: string) => void;
  /** A notice may have been written, from which a system event is published. */
  onNoticed: () => void;
  onError: (error: unknown) => void;
}

export interface Delivering extends AsyncDisposable {
  /** Deliveries that this node holds. */
  inFlight(): number;
}

export function startDelivering(context: Context, options: DeliveringOptions): Delivering {
  const { world, store, ring, changes, tracer } = context;
  const { self, contracts, sender, invalidation, waitsMs, timeoutMs, onSettled, onError } = options;
  const confirmer = store.isShared ? createConfirmer({ world, ...invalidation }) : noConfirmer;
  const telemetry = createDeliveryTelemetry({ world, tracer, log: options.log });
  const longest = createLongestTimeout();
  const deps = {
    world,
    prepare: createPrepare(ring, contracts),
    sender,
    ...invalidation,
    confirmer,
    nowMs: () => store.nowMs(),
    holdsLease: (lease: number) => self.holds(lease),
    longest,
    waitsMs,
    timeoutMs,
    tracer,
    telemetry,
  };
  const dispatcher = new Dispatcher({
    // Due times are by the store's clock, because it is the one that all nodes share.
    world: { ...world, nowMs: () => store.nowMs() },
    store,
    self,
    deliver: (leased, start) => deliver(deps, leased, start),
    onGone: (subscription, leased, settlement) => {
      invalidation.changed(subscription, 'ended');
      telemetry.gone(leased, subscription, settlement);
      const appNo = invalidation.targets.appOf(leased.callback);
      if (appNo !== undefined) changes.subscription(appNo, subscription);
    },
    onOverdue: async (overdue) => disable(context, { ...options, ...overdue }).catch(onError),
    onMoved: (leased, settlement) => {
      if (settlement !== undefined) {
        telemetry.settled(leased, settlement);
        onSettled(settlement);
      }
      const kind = settlement?.outcome.kind;
      if (kind === 'dead' || kind === 'gone') options.onNoticed();
      const appNo = invalidation.targets.appOf(leased.callback);
      if (appNo === undefined) return; // Only before the first attempt; its end is reported.
      if (settlement === undefined) changes.moved(appNo, leased);
      else changes.settled(appNo, leased, settlement.outcome.kind);
    },
    onError,
  });
  self.whenLost(() => dispatcher.lost());
  // An attempt that is cut off would be repeated, so a stop waits for the longest timeout.
  const graceMs = (): number => Math.max(limits.stopTimeoutMs, longest.ms() + limits.stopMarginMs);
  return {
    inFlight: () => dispatcher.inFlight(),
    [Symbol.asyncDispose]: async () => {
      await dispatcher.stop(graceMs);
      confirmer.close();
    },
  };
}

interface Disabling extends Pick<DeliveringOptions, 'invalidation' | 'onDisabled' | 'onNoticed'> {
  appNo: number;
  lane: number;
}

/** If it fails, the next failure of the receiver triggers it again. */
async function disable({ store, changes }: Context, disabling: Disabling): Promise<void> {
  const { appNo, lane, invalidation, onDisabled, onNoticed } = disabling;
  const audit = audited({ no: appNo, by: byService }, 'subscription.disabled');
  const result = await store.edit('disableFailing', { appNo, lane, audit });
  if (result.kind === 'kept') return;
  invalidation.changed(result.subscription, 'disabled');
  changes.subscription(appNo, result.subscription);
  onDisabled(result.subscription);
  onNoticed();
}
