// Builds and signs the request of an attempt.
import { fillEvent } from '../../contract/expression/target.ts';
import { deliveryId, type Leased } from '../../core/domain/delivery.ts';
import { hopsOf } from '../../core/domain/hops.ts';
import { withPrefix } from '../../core/base/id.ts';
import { validSecrets } from '../../core/secrets/signing-secret.ts';
import type { Tracer } from '../../core/telemetry/trace.ts';
import type { World } from '../../core/base/world.ts';
import { callbackHeaders } from '../../egress/sign/request-head.ts';
import type { SendRequest } from '../../egress/http/exchange.ts';
import { sign } from '../../egress/sign/sign.ts';
import type { Target } from '../../store/port/delivery-verbs.ts';
import type { Prepare } from '../targets/prepared-target.ts';
import { traceHeaders } from '../publish/trace.ts';

export interface AttemptRequestDeps {
  world: Pick<World, 'nowMs'>;
  prepare: Prepare;
  /** For subscriptions without a timeout of their own. */
  timeoutMs: number;
  tracer?: Tracer | undefined;
}

export function requestOf(
  deps: AttemptRequestDeps,
  { leased, target }: { leased: Leased; target: Target },
): SendRequest {
  const nowMs = deps.world.nowMs(); // Not the store's clock: the receiver compares the timestamp with real time.
  const {
    definition,
    secrets: known,
    headers: always,
    expiring,
    secretQuery,
  } = deps.prepare(target);
  const secrets = validSecrets(known, nowMs);
  const current = expiring.filter(({ expiresMs }) => expiresMs > nowMs);
  const added = current.length === 0 ? always : [...always, ...current.map((one) => one.header)];
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
    trace: traceHeaders(deps.tracer, leased),
    added,
  });
  const url = fillEvent(target.url, leased.eventName);
  const { timeoutMs = deps.timeoutMs } = target.controls;
  const { appNo: app, method } = target;
  return { app, method, url, secretQuery, headers, body, timeoutMs };
}
