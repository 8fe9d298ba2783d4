// Reports what becomes of deliveries: spans for tracing, lines for the log. One wide line per fact,
// with every id in it; never a payload, a header or the query of a URL. The path of a URL appears
// only at level debug, because it often holds a token.
import { deliveryId, type Leased } from '../../core/domain/delivery.ts';
import { withPrefix } from '../../core/base/id.ts';
import { originOf, plainUrl, withoutPaths } from '../../core/secrets/redact.ts';
import type { Tracer } from '../../core/telemetry/trace.ts';
import type { World } from '../../core/base/world.ts';
import type { Settlement, Target } from '../../store/port/delivery-verbs.ts';
import { attemptSpan, deliverySpan, deliveryTrace } from '../publish/trace.ts';

type Level = 'debug' | 'info' | 'warn';

export interface FactLog {
  isLevelEnabled(level: Level): boolean;
  debug(facts: object, fact: string): void;
  info(facts: object, fact: string): void;
  warn(facts: object, fact: string): void;
}

export interface DeliveryTelemetry {
  /** An attempt was made; its outcome may not be committed yet. */
  attempted(leased: Leased, target: Target, settlement: Settlement): void;
  /** The outcome of a delivery was committed. */
  settled(leased: Leased, settlement: Settlement): void;
  /** The subscription ended: the receiver asked to unsubscribe, or the delivery was the final one. */
  gone(leased: Leased, subscription: string, settlement: Settlement): void;
}

export interface DeliveryTelemetryDeps {
  world: Pick<World, 'nowMs'>;
  tracer?: Tracer | undefined;
  log?: FactLog | undefined;
}

export function createDeliveryTelemetry({
  world,
  tracer,
  log,
}: DeliveryTelemetryDeps): DeliveryTelemetry {
  // Keyed by the object that goes through one attempt, so that it is collected with it. Only
  // attempts that will be reported are added: a WeakMap with young keys makes every garbage
  // collection more expensive.
  const targets = new WeakMap<Leased, Target>();
  return {
    attempted: (leased, target, settlement) => {
      const trace = tracer && deliveryTrace(tracer, leased);
      const { kind } = settlement.outcome;
      const isEnding = kind === 'dead' || kind === 'gone' || settlement.finals !== undefined;
      const isLogged = isEnding || log?.isLevelEnabled('debug') === true;
      if (isLogged || trace?.context.isSampled === true) targets.set(leased, target);
      if (trace?.context.isSampled === true) {
        const span = attemptSpan(trace, { leased, settlement, target });
        if (span !== undefined) tracer?.record(span);
      }
      const isFailure = settlement.attempt?.error !== undefined;
      const level = isFailure ? 'info' : 'debug';
      if (log?.isLevelEnabled(level) !== true) return;
      const facts = {
        ...namesOf(leased, target, tracer),
        ...attemptFacts(leased, settlement, { level, nowMs: world.nowMs() }),
      };
      log[level](facts, isFailure ? 'attempt failed' : 'attempt');
    },
    settled: (leased, settlement) => {
      const target = targets.get(leased);
      const { outcome } = settlement;
      if (target === undefined || !isEnd(outcome.kind)) return;
      const trace = tracer && deliveryTrace(tracer, leased);
      if (trace?.context.isSampled === true) {
        tracer?.record(deliverySpan(trace, { leased, settlement, target }, world.nowMs()));
      }
      const level = outcome.kind === 'dead' ? 'warn' : 'debug';
      if (log?.isLevelEnabled(level) !== true) return;
      const facts = { ...namesOf(leased, target, tracer), ...endFacts(settlement, level) };
      log[level](facts, `delivery ${outcome.kind}`);
    },
    gone: (leased, subscription, { outcome }) => {
      const target = targets.get(leased);
      const names = target && namesOf(leased, target, tracer);
      log?.info(
        { ...names, subscription: withPrefix('sub', subscription) },
        outcome.kind === 'gone'
          ? 'subscription ended by its receiver'
          : 'subscription ended with its final callback',
      );
    },
  };
}

function isEnd(kind: Settlement['outcome']['kind']): boolean {
  return kind !== 'retry' && kind !== 'released';
}

function namesOf(leased: Leased, target: Target, tracer: Tracer | undefined): object {
  const traceId = deliveryTrace(tracer, leased)?.context.traceId;
  return {
    app: withPrefix('app', target.appId),
    subscription: withPrefix('sub', target.subscription),
    event: withPrefix('evt', leased.event),
    eventName: leased.eventName,
    delivery: deliveryId(leased),
    ...(traceId === undefined ? {} : { traceId }),
  };
}

function attemptFacts(
  { attempts }: Leased,
  { attempt, outcome }: Settlement,
  { level, nowMs }: { level: Level; nowMs: number },
): object {
  if (attempt === undefined) return {};
  const { status, error, message, tookMs, request, warning } = attempt;
  return {
    attempt: attempts + 1,
    outcome: outcome.kind,
    status,
    error,
    reason: level === 'debug' ? message : message && withoutPaths(message),
    warning,
    method: request.method,
    url: urlAt(level, request.url),
    tookMs,
    dueAt: 'waitMs' in outcome ? new Date(nowMs + outcome.waitMs).toISOString() : undefined,
  };
}

function endFacts({ attempt, outcome }: Settlement, level: Level): object {
  return {
    outcome: outcome.kind,
    reason: outcome.kind === 'dead' ? outcome.reason : undefined,
    status: attempt?.status,
    error: attempt?.error,
    url: attempt && urlAt(level, attempt.request.url),
  };
}

function urlAt(level: Level, url: string): string {
  return level === 'debug' ? plainUrl(url) : originOf(url);
}
