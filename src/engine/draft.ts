// The request of an attempt. Where it is known which deliveries the store is about to make, their requests are made
// while it writes them: they are signed by the time that they may be sent.
import { fillEvent } from '../contract/target.ts';
import { deliveryId, type Leased } from '../core/delivery.ts';
import { hopsOf } from '../core/hops.ts';
import { withPrefix } from '../core/id.ts';
import { validSecrets } from '../core/signing-secret.ts';
import type { Tracer } from '../core/trace.ts';
import type { World } from '../core/world.ts';
import { callbackHeaders } from '../egress/request-head.ts';
import type { SendRequest } from '../egress/exchange.ts';
import type { Sender } from '../egress/send.ts';
import { sign } from '../egress/sign.ts';
import type { KnownTarget, Prepare } from './prepared.ts';
import type { TargetCache } from './target-cache.ts';
import { traceHeaders } from './trace.ts';

export interface DraftMeans {
  world: Pick<World, 'nowMs'>;
  sender: Pick<Sender, 'print'>;
  targets: Pick<TargetCache, 'known'>;
  prepare: Prepare;
  /** For subscriptions that have chosen nothing else. */
  timeoutMs: number;
  tracer?: Tracer | undefined;
}

const drafted = Symbol('drafted');

/** A delivery whose request may have been made ahead. */
interface Drafted extends Leased {
  [drafted]?: Draft | undefined;
}

interface Draft {
  target: KnownTarget;
  /** Within the second that was signed, while all secrets that it was signed with are valid. */
  fromMs: number;
  untilMs: number;
  request: SendRequest;
}

/**
 * Measured with 64 publishers, new processes in each round. PostgreSQL: 0.99 to 1.16 times as many events, 1.06 in the
 * median of 7 rounds, and both cores rest for 25 % of the time instead of 27. SQLite: 0.93 to 1.16, 1.02 in the median of 16.
 */
export function foresee(means: DraftMeans, deliveries: readonly Drafted[]): void {
  for (const leased of deliveries) {
    const target = means.targets.known(leased.callback, leased.version);
    if (target === undefined) continue;
    try {
      const draft = compose(means, { leased, target, nowMs: means.world.nowMs() });
      means.sender.print(draft.request);
      leased[drafted] = draft;
    } catch {
      // It is made again when it is to be sent, and what is wrong with it is told there.
    }
  }
}

export function requestOf(
  means: DraftMeans,
  { leased, target }: { leased: Drafted; target: KnownTarget },
): SendRequest {
  const nowMs = means.world.nowMs(); // Its receiver knows no other clock.
  const draft = leased[drafted];
  leased[drafted] = undefined; // A delivery is held for longer than its request.
  const stands = draft?.target === target && nowMs >= draft.fromMs && nowMs < draft.untilMs;
  return (stands ? draft : compose(means, { leased, target, nowMs })).request;
}

interface Composing {
  leased: Leased;
  target: KnownTarget;
  nowMs: number;
}

function compose(means: DraftMeans, { leased, target, nowMs }: Composing): Draft {
  const { definition, secrets: known, headers: added } = means.prepare(target);
  const secrets = validSecrets(known, nowMs);
  const timestampS = Math.floor(nowMs / 1000);
  const id = withPrefix('evt', leased.event);
  const mediaType = definition === undefined ? 'application/json' : definition.mediaType;
  const body = mediaType === undefined ? new Uint8Array() : leased.payload;
  const headers = callbackHeaders({
    mediaType,
    eventId: id,
    eventName: leased.eventName,
    delivery: deliveryId(leased),
    subscription: withPrefix('sub', target.subscription),
    attempt: leased.attempts + 1,
    hops: hopsOf(leased.trace) + 1,
    timestampS,
    signature: sign({ id, timestampS, payload: body, secrets: secrets.map((one) => one.secret) }),
    trace: traceHeaders(means.tracer, leased),
    added,
  });
  const url = fillEvent(target.url, leased.eventName);
  const { timeoutMs = means.timeoutMs } = target.controls;
  const { appNo: app, method } = target;
  const request = { app, method, url, headers, body, timeoutMs };
  const untilMs = Math.min(
    (timestampS + 1) * 1000,
    ...secrets.map(({ expiresMs = Infinity }) => expiresMs),
  );
  return { target, fromMs: nowMs, untilMs, request };
}
