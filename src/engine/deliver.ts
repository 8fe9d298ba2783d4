// One attempt of one delivery: from the lease to the settlement. Whatever the receiver does becomes an
// outcome; whatever fails on our side gives the delivery back unharmed, with no attempt counted.
import type { CallbackDefinition, Contract } from '../contract/contract.ts';
import { fillEvent } from '../contract/target.ts';
import type { SendResult } from '../core/attempt.ts';
import { deliveryId, type Leased } from '../core/delivery.ts';
import { withPrefix } from '../core/id.ts';
import { limits } from '../core/limits.ts';
import { classify, errorOf, type Outcome } from '../core/outcome.ts';
import type { KeyRing } from '../core/seal.ts';
import { validSecrets } from '../core/signing-secret.ts';
import type { World } from '../core/world.ts';
import { callbackHeaders } from '../egress/request-head.ts';
import type { Sender } from '../egress/send.ts';
import { sign } from '../egress/sign.ts';
import type { AttemptRecord, Settlement, Target } from '../store/delivery-verbs.ts';
import type { Gate, GateState, Passage } from './gate.ts';
import { openSecrets } from './secrets.ts';
import type { TargetCache } from './target-cache.ts';

export interface DeliverMeans {
  world: World;
  sender: Sender;
  targets: TargetCache;
  gate: Gate;
  ring: KeyRing;
  contracts: readonly Contract[];
  node: number;
  waitsMs: readonly number[];
  timeoutMs: number;
}

export async function deliver(
  means: DeliverMeans,
  leased: Leased,
  signal: AbortSignal,
): Promise<Settlement> {
  const { event, n, lease } = leased;
  const name = { event, n, lease };
  const found = await approach(means, leased.callback);
  if (found === undefined) return { ...name, outcome: { kind: 'cancelled' }, attempt: undefined };
  const { target, passage } = found;
  try {
    const sent = await attempt(means, { leased, target, gate: () => passage.state(), signal });
    return { ...name, ...settle(means, { leased, target, sent }) };
  } finally {
    passage.leave();
  }
}

/**
 * Stands before the gate with a target that is current. A change that comes between finding the target
 * and standing there would be heard by nobody, so it is looked for once one stands.
 */
async function approach(
  { targets, gate }: DeliverMeans,
  callback: number,
): Promise<{ target: Target; passage: Passage } | undefined> {
  for (;;) {
    const target = await targets.find(callback);
    if (target?.isActive !== true) return undefined;
    const passage = gate.approach(target.subscription);
    if (targets.isCurrent(target)) return { target, passage };
    passage.leave();
  }
}

interface Attempting {
  leased: Leased;
  target: Target;
  gate: () => GateState;
  signal: AbortSignal;
}

type Sent =
  | { kind: 'sent'; result: SendResult; startedMs: number; tookMs: number; url: string }
  /** Nothing was sent, and no attempt is counted: it goes back, due after a while. */
  | { kind: 'held'; waitMs: number }
  | { kind: 'ended' };

async function attempt(means: DeliverMeans, it: Attempting): Promise<Sent> {
  const { world, sender, ring, timeoutMs } = means;
  const { leased, target, gate, signal } = it;
  const startedMs = world.nowMs();
  const startedAt = world.monotonicMs();
  const owner = { appId: target.appId, subscriptionId: target.subscription };
  const secrets = validSecrets(openSecrets(ring, owner, target.secrets), startedMs);
  const id = withPrefix('evt', leased.event);
  const timestampS = Math.floor(startedMs / 1000);
  const url = fillEvent(target.url, leased.eventName);
  const body = leased.payload;
  const headers = callbackHeaders({
    mediaType: definitionOf(means.contracts, target)?.mediaType ?? 'application/json',
    eventId: id,
    eventName: leased.eventName,
    delivery: deliveryId(leased),
    subscription: withPrefix('sub', target.subscription),
    attempt: leased.attempts + 1,
    timestampS,
    signature: sign({ id, timestampS, payload: body, secrets: secrets.map((one) => one.secret) }),
  });
  const request = { method: target.method, url, headers, body, timeoutMs };
  const onStart = (): boolean => gate() === 'open';
  const result = await sender.send(request, { signal, onStart });
  const tookMs = Math.round(world.monotonicMs() - startedAt);
  if (result.kind === 'not_started') {
    if (gate() === 'ended') return { kind: 'ended' };
    return { kind: 'held', waitMs: gate() === 'held' ? 0 : limits.ownFailureWaitMs };
  }
  if (result.kind === 'aborted') return { kind: 'held', waitMs: 0 };
  return { kind: 'sent', result, startedMs, tookMs, url };
}

type Settling = Pick<Settlement, 'outcome' | 'attempt'>;

function settle(
  means: DeliverMeans,
  { leased, target, sent }: { leased: Leased; target: Target; sent: Sent },
): Settling {
  const nowMs = means.world.nowMs();
  if (sent.kind === 'held') {
    return { outcome: { kind: 'released', dueMs: nowMs + sent.waitMs }, attempt: undefined };
  }
  if (sent.kind === 'ended') return { outcome: { kind: 'cancelled' }, attempt: undefined };
  const definition = definitionOf(means.contracts, target);
  const unsubscribeStatus = definition?.unsubscribeStatus ?? 410;
  const classified = classify(sent.result, {
    tries: leased.tries,
    waitsMs: means.waitsMs,
    unsubscribeStatus,
    nowMs,
    chance: chance(means.world),
  });
  // A target that was left meanwhile may be gone: the subscription now points elsewhere.
  const isLeft = classified.kind === 'gone' && !means.targets.isCurrent(target);
  const outcome: Outcome = isLeft ? { kind: 'retry', dueMs: nowMs } : classified;
  const error = errorOf(sent.result, unsubscribeStatus);
  const { result, startedMs, tookMs, url } = sent;
  const answered = result.kind === 'answered' ? result : undefined;
  const record: AttemptRecord = {
    node: means.node,
    startedMs,
    tookMs,
    status: answered?.status,
    error,
    message: result.kind === 'failed' ? result.message : undefined,
    request: { method: target.method, url },
    response: answered && keptResponse(answered, outcome.kind === 'delivered'),
    warning: answered && undeclared(definition, answered.status, outcome.kind === 'delivered'),
  };
  return { outcome, attempt: record };
}

/** Of a success a little is kept, of anything else enough to find out why. */
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
  const names = [String(status), `${String(status).charAt(0)}XX`, 'default'];
  const isDeclared = declared.length === 0 || declared.some((one) => names.includes(one));
  if (!isDelivered || isDeclared) return undefined;
  return `The contract declares ${declared.join(', ')} for this callback, the receiver sent ${status}`;
}

/** The callback of the contract that a subscription came from, if the contract still has it. */
function definitionOf(
  contracts: readonly Contract[],
  { contract, operation, definition }: Target,
): CallbackDefinition | undefined {
  const role = contracts
    .find(({ title }) => title === contract)
    ?.operations.find(({ operationId }) => operationId === operation)?.role;
  if (role?.kind !== 'subscribe') return undefined;
  return role.variants.flatMap(({ callbacks }) => callbacks).find(({ id }) => id === definition);
}

/** From 0 up to 1. */
function chance(world: World): number {
  const bytes = world.randomBytes(4);
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) / 2 ** 32;
}
