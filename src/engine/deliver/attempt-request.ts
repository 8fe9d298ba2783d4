// Builds the request of an attempt. When the store announces which deliveries it is about to
// insert, their requests are built and signed while it commits.
import { fillEvent } from '../../contract/expression/target.ts';
import { deliveryId, type Leased } from '../../core/domain/delivery.ts';
import { hopsOf } from '../../core/domain/hops.ts';
import { withPrefix } from '../../core/base/id.ts';
import { validSecrets } from '../../core/secrets/signing-secret.ts';
import type { Tracer } from '../../core/telemetry/trace.ts';
import type { World } from '../../core/base/world.ts';
import { callbackHeaders } from '../../egress/sign/request-head.ts';
import type { SendRequest } from '../../egress/http/exchange.ts';
import type { Sender } from '../../egress/http/send.ts';
import { sign } from '../../egress/sign/sign.ts';
import type { Target } from '../../store/port/delivery-verbs.ts';
import type { Prepare } from '../targets/prepared-target.ts';
import type { TargetCache } from '../targets/target-cache.ts';
import { traceHeaders } from '../publish/trace.ts';

export interface AttemptRequestDeps {
  world: Pick<World, 'nowMs'>;
  sender: Pick<Sender, 'print'>;
  targets: Pick<TargetCache, 'known'>;
  prepare: Prepare;
  /** For subscriptions without a timeout of their own. */
  timeoutMs: number;
  tracer?: Tracer | undefined;
}

const drafted = Symbol('drafted');

/** A delivery whose request may have been built ahead. */
interface Drafted extends Leased {
  [drafted]?: Draft | undefined;
}

interface Draft {
  target: Target;
  /** The draft is valid within the signed second, while all secrets that signed it are valid. */
  fromMs: number;
  untilMs: number;
  request: SendRequest;
}

/**
 * Building ahead uses time in which the cores would idle: a median of 1.06 times as many events on
 * PostgreSQL, no clear gain on SQLite (docs/performance.md).
 */
export function prepareRequests(deps: AttemptRequestDeps, deliveries: readonly Drafted[]): void {
  for (const leased of deliveries) {
    const target = deps.targets.known(leased.callback, leased.version);
    if (target === undefined) continue;
    try {
      const draft = compose(deps, { leased, target, nowMs: deps.world.nowMs() });
      deps.sender.print(draft.request);
      leased[drafted] = draft;
    } catch {
      // The request is built again when it is sent, and the error is reported there.
    }
  }
}

export function requestOf(
  deps: AttemptRequestDeps,
  { leased, target }: { leased: Drafted; target: Target },
): SendRequest {
  const nowMs = deps.world.nowMs(); // Not the store's clock: the receiver compares the timestamp with real time.
  const draft = leased[drafted];
  leased[drafted] = undefined; // The delivery outlives its request.
  const stands = draft?.target === target && nowMs >= draft.fromMs && nowMs < draft.untilMs;
  return (stands ? draft : compose(deps, { leased, target, nowMs })).request;
}

interface Composing {
  leased: Leased;
  target: Target;
  nowMs: number;
}

function compose(deps: AttemptRequestDeps, { leased, target, nowMs }: Composing): Draft {
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
  const request = { app, method, url, secretQuery, headers, body, timeoutMs };
  const untilMs = Math.min(
    (timestampS + 1) * 1000,
    ...secrets.map(({ expiresMs = Infinity }) => expiresMs),
    ...current.map(({ expiresMs }) => expiresMs),
  );
  return { target, fromMs: nowMs, untilMs, request };
}
