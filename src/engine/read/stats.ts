// Statistics: the activity of an app or of its subscriptions, step by step, and what needs
// attention.
import { customerOf, type Actor } from '../../core/domain/app.ts';
import {
  addStatistics,
  calendarLastMs,
  noStatistics,
  pendingOf,
  type Range,
  type Span,
  spanBetween,
  spanOf,
  type Statistics,
  stepsOf,
} from '../../core/telemetry/statistics.ts';
import { timeOf, withoutPrefix } from '../../core/base/id.ts';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/errors/problem.ts';
import type {
  Attention,
  StepStatistics,
  SubscriptionFigures,
} from '../../store/port/statistics-verbs.ts';
import type { Context } from '../context.ts';

/** A range that ends now, or an explicit start and end. */
export type TimeAsked = { range: Range } | { fromMs: number; untilMs: number };

export interface StatisticsChart {
  span: Span;
  /** Every step, oldest first. */
  steps: readonly Statistics[];
  totals: Statistics;
}

export interface Stats extends StatisticsChart {
  pending: number;
  isPendingCapped: boolean;
  /** When the event of the oldest pending delivery was published. */
  oldestPendingMs: number | undefined;
  /** Undefined unless the statistics are of a customer. */
  subscriptionsAreCapped?: boolean;
  attention: readonly Attention[];
}

export async function getStats(
  { store }: Pick<Context, 'store'>,
  app: Actor,
  asked: TimeAsked & { subscriberId: string | undefined; customer: string | undefined },
): Promise<Stats> {
  const span = spanFor(asked, store.nowMs());
  const { subscriberId } = asked;
  const customer = customerOf(app, asked.customer, 'query.customer');
  if (subscriberId !== undefined)
    return statsOfOne({ store }, app, { subscriberId, customer, span });
  if (customer !== undefined) {
    const input = { appNo: app.no, customer, span, pendingMax: limits.pendingCountedMax };
    const found = await store.read('customerStatistics', input);
    const { subscriptionsAreCapped } = found;
    return { ...statsOfSubscriptions(span, found), subscriptionsAreCapped };
  }
  const found = await store.read('appStatistics', { appNo: app.no, span });
  return {
    ...chart(span, found.steps),
    pending: pendingOf(found.counts),
    isPendingCapped: false,
    oldestPendingMs: timeOfEvent(found.oldestPending),
    attention: found.attention,
  };
}

export interface SubscriptionStats extends StatisticsChart {
  id: string;
  pending: number;
  isPendingCapped: boolean;
}

/** In the order of the ids; those that are unknown to the actor are left out. */
export async function getSubscriptionStats(
  { store }: Pick<Context, 'store'>,
  app: Actor,
  asked: TimeAsked & { subscriberIds: readonly string[] },
): Promise<{ span: Span; items: readonly SubscriptionStats[] }> {
  const span = spanFor(asked, store.nowMs());
  const ids = asked.subscriberIds.flatMap((id) => withoutPrefix('sub', id) ?? []);
  const pendingMax = limits.pendingCountedEachMax;
  const { no: appNo, customer } = app;
  const input = { appNo, customer, ids: [...new Set(ids)], span, pendingMax };
  const found = await store.read('subscriptionStatistics', input);
  const items = found.map(({ id, steps, pending, isCapped }) => ({
    ...chart(span, steps.map(ofSubscription)),
    id,
    pending,
    isPendingCapped: isCapped,
  }));
  return { span, items };
}

async function statsOfOne(
  { store }: Pick<Context, 'store'>,
  app: Actor,
  asked: { subscriberId: string; customer: string | undefined; span: Span },
): Promise<Stats> {
  const { subscriberId, customer, span } = asked;
  const id = withoutPrefix('sub', subscriberId);
  const ids = id === undefined ? [] : [id];
  const input = { appNo: app.no, customer, ids, span, pendingMax: limits.pendingCountedMax };
  const [found] = await store.read('subscriptionStatistics', input);
  if (found === undefined) {
    throw new Problem('not_found', `There is no subscription ${JSON.stringify(subscriberId)}`);
  }
  return statsOfSubscriptions(span, found);
}

function statsOfSubscriptions(span: Span, found: SubscriptionFigures): Stats {
  const { steps, pending, isCapped, oldestPending } = found;
  return {
    ...chart(span, steps.map(ofSubscription)),
    pending,
    isPendingCapped: isCapped,
    oldestPendingMs: timeOfEvent(oldestPending),
    attention: [],
  };
}

/**
 * Events are not published to single subscriptions, so the deliveries made for it count as
 * published.
 */
function ofSubscription({ step, figures }: StepStatistics): StepStatistics {
  const { counts, took } = figures;
  return { step, figures: { counts: { ...counts, published: counts.made }, took } };
}

function spanFor(asked: TimeAsked, nowMs: number): Span {
  if ('range' in asked) return spanOf(asked.range, nowMs);
  const { fromMs, untilMs } = asked;
  if (fromMs < Math.min(untilMs, calendarLastMs)) return spanBetween(fromMs, untilMs);
  const message = 'is not after from, expected a later time';
  throw new Problem('invalid_request', `query.until ${message}`, {
    faults: [{ field: 'query.until', message }],
  });
}

function chart(span: Span, found: readonly StepStatistics[]): StatisticsChart {
  const known = new Map(found.map(({ step, figures }) => [step, figures]));
  const totals = noStatistics();
  for (const { figures } of found) addStatistics(totals, figures);
  const steps = Array.from({ length: stepsOf(span) }, (_, i) => known.get(i) ?? noStatistics());
  return { span, steps, totals };
}

function timeOfEvent(id: string | undefined): number | undefined {
  return id === undefined ? undefined : timeOf(id);
}
