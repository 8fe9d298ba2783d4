// One attempt of one delivery, from the lease to the settlement. Whatever the receiver does becomes
// an outcome; a failure on our side releases the delivery and counts no attempt.
import { responseKeys, type CallbackDefinition } from '../../contract/model/contract.ts';
import type { World } from '../../core/base/world.ts';
import type { SendResult } from '../../core/domain/attempt.ts';
import { holderOf, type Leased } from '../../core/domain/delivery.ts';
import { ownPrefix } from '../../core/domain/event.ts';
import { classify, errorOf, goneStatus, type Outcome } from '../../core/domain/outcome.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Sender } from '../../egress/http/send.ts';
import type { AttemptRecord, Settlement, Target } from '../../store/port/delivery-verbs.ts';
import type { TargetCache } from '../targets/target-cache.ts';
import { requestOf, type AttemptRequestDeps } from './attempt-request.ts';
import type { Confirmation, Confirmer } from './confirmation.ts';
import type { DeliveryTelemetry } from './delivery-telemetry.ts';
import type { Start, LongestTimeout } from './dispatcher.ts';
import type { Gate, GatePass } from './gate.ts';
import { followRedirects, isRedirect, type Followed } from './redirects.ts';

export interface DeliverDeps extends AttemptRequestDeps {
  world: World;
  sender: Sender;
  targets: TargetCache;
  gate: Gate;
  confirmer: Confirmer;
  /**
   * By the store's clock, which decides when a subscription has expired and when an attempt is due.
   */
  nowMs: () => number;
  longest: LongestTimeout;
  /** Whether the lease still belongs to this node, so that an attempt may start. */
  holdsLease: (lease: number) => boolean;
  /** Retry waits of subscriptions without their own. */
  waitsMs: readonly number[];
  telemetry?: Pick<DeliveryTelemetry, 'attempted'> | undefined;
}

export async function deliver(
  deps: DeliverDeps,
  leased: Leased,
  { signal, confirmedMs }: Start,
): Promise<Settlement> {
  const name = { event: leased.event, n: leased.n, lease: leased.lease };
  const found = registerIfCached(deps, leased) ?? (await registerWithCurrentTarget(deps, leased));
  if (found.kind !== 'registered') return { ...name, ...settleUnsent(found) };
  const { target, pass } = found;
  const confirmation = deps.confirmer.confirm(target, confirmedMs);
  try {
    const sent = await sendOnceConfirmed(deps, { leased, target, pass, confirmation, signal });
    if (sent.kind !== 'sent') return { ...name, ...settleUnsent(sent) };
    // Another node may have changed the target of the subscription since.
    const isUnconfirmed =
      asksToUnsubscribe(deps, target, sent.result) &&
      (await confirmation.renew('fresh').then(
        () => false,
        () => true, // The store cannot be asked. The attempt was made and is recorded.
      ));
    const settlement = {
      ...name,
      ...settle(deps, { leased, target, pass, sent, isDoubtful: isUnconfirmed }),
    };
    deps.telemetry?.attempted(leased, target, settlement);
    return settlement;
  } finally {
    pass.leave();
    confirmation.end();
  }
}

/** With a cached target, so without waiting; undefined if there is none. */
function registerIfCached(
  { targets, gate }: DeliverDeps,
  { callback, version }: Leased,
): Registered | Unsent | undefined {
  const target = targets.known(callback, version);
  if (target === undefined) return undefined;
  if (!target.isActive) return { kind: 'ended' };
  // The subscription has changed since the lease, perhaps to paused: the store decides whether to
  // go on.
  if (target.version > version) return { kind: 'held', waitMs: 0 };
  return { kind: 'registered', target, pass: gate.approach(target.subscription) };
}

interface Registered {
  kind: 'registered';
  target: Target;
  pass: GatePass;
}

/**
 * Registers at the gate with a current target. A change between reading the target and registering
 * would be missed, so the target is looked up again until both happen in one turn.
 */
async function registerWithCurrentTarget(
  deps: DeliverDeps,
  leased: Leased,
): Promise<Registered | Unsent> {
  for (;;) {
    const target = await deps.targets.find(leased.callback, leased.version);
    if (target === undefined) return { kind: 'ended' };
    const found = registerIfCached(deps, leased);
    if (found !== undefined) return found;
  }
}

interface AttemptInput {
  leased: Leased;
  target: Target;
  pass: GatePass;
  confirmation: Confirmation;
  signal: AbortSignal;
}

interface Sent {
  kind: 'sent';
  result: SendResult;
  startedMs: number;
  tookMs: number;
  url: string;
  /** Where declared redirects led, in words. */
  path: string | undefined;
}

/** Nothing was sent, and no attempt is counted. */
type Unsent =
  /** The delivery is released, due after `waitMs`. */
  { kind: 'held'; waitMs: number } | { kind: 'ended' };

/**
 * Sends once the store has confirmed that the lane is active. A confirmation that expires before the
 * request starts is renewed.
 */
async function sendOnceConfirmed(deps: DeliverDeps, it: AttemptInput): Promise<Sent | Unsent> {
  for (let tries = 0; tries < limits.confirmTriesMax; tries += 1) {
    if (!it.confirmation.isFresh()) await it.confirmation.renew('shared');
    const sent = await send(deps, it);
    if (sent.kind !== 'unconfirmed') return sent;
  }
  return { kind: 'held', waitMs: limits.unconfirmedWaitMs };
}

type StartState = 'open' | 'held' | 'ended' | 'expired' | 'unconfirmed';

/**
 * Called right before the first byte. A delivery that has lost its lease is released, and the store
 * ignores that release.
 */
function checkMayStart(deps: DeliverDeps, it: AttemptInput): StartState {
  const { leased, target, pass, confirmation } = it;
  const state = pass.state();
  if (state !== 'open') return state;
  if (!deps.holdsLease(leased.lease)) return 'held';
  const { expiresMs } = target.controls;
  if (expiresMs !== undefined && deps.nowMs() >= expiresMs) return 'expired';
  return confirmation.isFresh() ? 'open' : 'unconfirmed';
}

function unsentBecause(startState: Exclude<StartState, 'open'>): Unsent | { kind: 'unconfirmed' } {
  // The expirer has not ended the subscription yet. Release the delivery, so that the next claim
  // finds it ended.
  if (startState === 'expired') return { kind: 'held', waitMs: limits.unconfirmedWaitMs };
  return startState === 'held' ? { kind: 'held', waitMs: 0 } : { kind: startState };
}

async function send(
  deps: DeliverDeps,
  it: AttemptInput,
): Promise<Sent | Unsent | { kind: 'unconfirmed' }> {
  let startState = checkMayStart(deps, it);
  if (startState !== 'open') return unsentBecause(startState);
  const { world, sender } = deps;
  const startedMs = deps.nowMs();
  const startedAt = world.monotonicMs();
  const request = requestOf(deps, it);
  const onStart = (): boolean => {
    startState = checkMayStart(deps, it);
    if (startState === 'open') it.confirmation.end();
    return startState === 'open';
  };
  const isOver = deps.longest.begin(request.timeoutMs);
  let followed: Followed;
  try {
    const result = await sender.send(request, { signal: it.signal, onStart });
    // The confirmation ended when the attempt started; the gate and the lease are asked again.
    const onHop = (): boolean => {
      startState = checkMayStart(deps, it);
      if (startState === 'unconfirmed') startState = 'open';
      return startState === 'open';
    };
    followed = isRedirect(result)
      ? await followRedirects(
          deps,
          { request, result },
          {
            ...deps.prepare(it.target),
            deadlineMs: startedAt + request.timeoutMs,
            options: { signal: it.signal, onStart: onHop },
          },
        )
      : { result, path: undefined };
  } finally {
    isOver();
  }
  const { result, path } = followed;
  const tookMs = Math.round(world.monotonicMs() - startedAt);
  if (result.kind === 'aborted') return { kind: 'held', waitMs: 0 };
  if (result.kind !== 'not_started') {
    return { kind: 'sent', result, startedMs, tookMs, url: request.url, path };
  }
  if (startState !== 'open') return unsentBecause(startState);
  return { kind: 'held', waitMs: limits.ownFailureWaitMs };
}

type SettlementBody = Pick<Settlement, 'outcome' | 'attempt' | 'finals'>;

function settleUnsent(it: Unsent): SettlementBody {
  if (it.kind === 'ended') return { outcome: { kind: 'cancelled' }, attempt: undefined };
  return { outcome: { kind: 'released', waitMs: it.waitMs }, attempt: undefined };
}

interface SentAttempt {
  leased: Leased;
  target: Target;
  pass: GatePass;
  sent: Sent;
  /**
   * The receiver asks to unsubscribe, but the store could not confirm that it is still the current
   * target.
   */
  isDoubtful: boolean;
}

function settle(deps: DeliverDeps, it: SentAttempt): SettlementBody {
  const { leased, target, pass, sent, isDoubtful } = it;
  const nowMs = deps.nowMs();
  const { definition, finals } = deps.prepare(target);
  const unsubscribeStatus = unsubscribeStatusOf(definition);
  const classified = classify(sent.result, {
    tries: leased.tries,
    waitsMs: target.controls.retryMs ?? deps.waitsMs,
    unsubscribeStatus,
    nowMs,
    randomFraction: () => randomFraction(deps.world),
  });
  // If the subscription's target has changed in the meantime, the answer of the old one must not
  // end it.
  const isCurrentTarget = (): boolean => deps.targets.isCurrent(target) || pass.state() === 'open'; // Or evicted from the cache, but unchanged.
  const isMoved = classified.kind === 'gone' && (isDoubtful || !isCurrentTarget());
  const outcome: Outcome = isMoved ? { kind: 'retry', waitMs: 0 } : classified;
  const error = errorOf(sent.result, unsubscribeStatus);
  const { result, startedMs, tookMs, url, path } = sent;
  const answered = result.kind === 'answered' ? result : undefined;
  const record: AttemptRecord = {
    node: holderOf(leased.lease),
    startedMs,
    tookMs,
    status: answered?.status,
    error,
    message: messageOf(result, path),
    request: { method: target.method, url },
    response: answered && keptResponse(answered, outcome.kind === 'delivered'),
    warning: answered && undeclared(definition, answered.status, outcome.kind === 'delivered'),
  };
  // A ping, which any callback receives, is not the event that the callback is for.
  if (finals === undefined || leased.eventName.startsWith(ownPrefix))
    return { outcome, attempt: record };
  return { outcome, attempt: record, finals };
}

function messageOf(result: SendResult, path: string | undefined): string | undefined {
  const failure = result.kind === 'failed' ? result.message : undefined;
  return path !== undefined && failure !== undefined ? `${path}; ${failure}` : (path ?? failure);
}

function asksToUnsubscribe({ prepare }: DeliverDeps, target: Target, result: SendResult): boolean {
  if (result.kind !== 'answered') return false;
  return result.status === unsubscribeStatusOf(prepare(target).definition);
}

function unsubscribeStatusOf(definition: CallbackDefinition | undefined): number {
  return definition?.unsubscribeStatus ?? goneStatus;
}

/** Keeps little of a successful response, and enough of a failed one to diagnose it. */
function keptResponse(
  { headers, body, cut }: Extract<SendResult, { kind: 'answered' }>,
  isDelivered: boolean,
): AttemptRecord['response'] {
  const most = isDelivered ? limits.responseKeptOfSuccessBytes : limits.responseBytesMax;
  return { headers, body: body.subarray(0, most), cut: cut || body.length > most };
}

function undeclared(
  definition: CallbackDefinition | undefined,
  status: number,
  isDelivered: boolean,
): string | undefined {
  const declared = definition?.statuses ?? [];
  if (!isDelivered || declared.length === 0) return undefined;
  if (responseKeys(status).some((key) => declared.includes(key))) return undefined;
  return `The contract declares ${declared.join(', ')} for this callback, the receiver sent ${status}`;
}

/** In [0, 1). */
function randomFraction(world: World): number {
  const bytes = world.randomBytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) / 2 ** 32;
}
