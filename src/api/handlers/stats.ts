// Handlers of statistics: figures by step for a chart, and totals.
import { withPrefix } from '../../core/base/id.ts';
import {
  latencyOf,
  minuteMs,
  ranges,
  type Span,
  type Statistics,
  successRateOf,
} from '../../core/telemetry/statistics.ts';
import type { Context } from '../../engine/context.ts';
import type { SubscriptionStats, TimeAsked } from '../../engine/read/stats.ts';
import { getStats, getSubscriptionStats } from '../../engine/read/stats.ts';
import type { Attention } from '../../store/port/statistics-verbs.ts';
import type { Handlers } from '../request/call.ts';
import type { Fields } from '../request/fields.ts';
import * as fields from '../request/fields.ts';

export function statsHandlers(context: Context): Handlers {
  return {
    getStats: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const subscriberId = fields.optionalText(query, 'subscriberId');
      const asked = timeAsked(query, context.store.nowMs());
      const customer = fields.optionalText(query, 'customer');
      const stats = await getStats(context, app, { ...asked, subscriberId, customer });
      const { span, oldestPendingMs, subscriptionsAreCapped } = stats;
      const stepMs = span.stepMinutes * minuteMs;
      const steps = stats.steps.map((figures, i) => ({
        at: fields.time(span.fromMinute * minuteMs + i * stepMs),
        ...showCounts(figures),
      }));
      const body = {
        ...showSpan(span),
        steps,
        totals: showTotals(stats.totals),
        pending: stats.pending,
        pendingIsCapped: stats.isPendingCapped,
        oldestPendingAt: oldestPendingMs === undefined ? null : fields.time(oldestPendingMs),
        ...(subscriptionsAreCapped === undefined ? {} : { subscriptionsAreCapped }),
        attention: stats.attention.map(showAttention),
      };
      return { status: 200, body };
    },
    getSubscriptionStats: async ({ app, request }) => {
      const query = Object.fromEntries(request.query);
      const subscriberIds = fields.list(query, 'subscriberIds').map(String);
      const asked = timeAsked(query, context.store.nowMs());
      const found = await getSubscriptionStats(context, app, { ...asked, subscriberIds });
      const items = found.items.map(showSubscription);
      return { status: 200, body: { ...showSpan(found.span), items } };
    },
  };
}

function timeAsked(query: Fields, nowMs: number): TimeAsked {
  const name = fields.optionalText(query, 'range');
  const range = ranges.find((one) => one === name);
  const fromMs = fields.optionalInstant(query, 'from', 'query.from');
  const untilMs = fields.optionalInstant(query, 'until', 'query.until');
  if (fromMs === undefined && untilMs === undefined) return { range: range ?? '1h' };
  if (range !== undefined)
    throw fields.badField('query.range', 'cannot be combined with from or until');
  if (fromMs === undefined)
    throw fields.badField('query.from', 'is missing, expected together with until');
  return { fromMs, untilMs: untilMs ?? nowMs };
}

function showSpan({ fromMinute, untilMinute, stepMinutes }: Span): Record<string, unknown> {
  return {
    from: fields.time(fromMinute * minuteMs),
    until: fields.time(untilMinute * minuteMs),
    stepSeconds: stepMinutes * 60,
  };
}

function showCounts(figures: Statistics): Record<string, unknown> {
  const { published, delivered, retried, dead, cancelled } = figures.counts;
  const { p50Ms = null, p95Ms = null } = latencyOf(figures);
  return { published, delivered, retried, dead, cancelled, p50Ms, p95Ms };
}

function showTotals(figures: Statistics): Record<string, unknown> {
  return { ...showCounts(figures), successRate: successRateOf(figures.counts) ?? null };
}

function showSubscription(stats: SubscriptionStats): Record<string, unknown> {
  const counts = stats.steps.map((figures) => figures.counts);
  return {
    subscriberId: withPrefix('sub', stats.id),
    delivered: counts.map(({ delivered }) => delivered),
    failed: counts.map(({ retried, dead }) => retried + dead),
    totals: showTotals(stats.totals),
    pending: stats.pending,
    pendingIsCapped: stats.isPendingCapped,
  };
}

function showAttention(one: Attention): Record<string, unknown> {
  const { kind, subscription, url, sinceMs, failures, status, error } = one;
  return {
    kind,
    subscriberId: withPrefix('sub', subscription),
    url,
    since: sinceMs === undefined ? null : fields.time(sinceMs),
    failures,
    ...(error === undefined ? {} : { error }),
    ...(status === undefined ? {} : { status }),
  };
}
