// Quotas of apps and the rate at which they publish. The rate is kept in memory: it costs no write,
// and a restart forgets it. In a cluster each node that serves requests grants its share of it.
import type { App } from '../../core/domain/app.ts';
import { limits } from '../../core/limits/limits.ts';
import { NewestMap } from '../../core/base/newest-map.ts';
import { Problem } from '../../core/errors/problem.ts';
import {
  type Debt,
  refund,
  type Quotas,
  quotasOf,
  rescale,
  takeFromQuota,
} from '../../core/load/quotas.ts';
import { whenReady, type MaybePromise } from '../../core/base/maybe-promise.ts';
import type { World } from '../../core/base/world.ts';
import type { Store } from '../../store/port/store.ts';

type Owner = Pick<App, 'no' | 'quotas'>;

/** Response headers with what is left of the quota; empty without one. */
export type RateHeaders = Readonly<Record<string, string>>;

export interface AppQuotas {
  /** For apps without quotas of their own. */
  readonly fallback: Quotas;
  of(app: Pick<App, 'quotas'>): Quotas;
  /** Takes `events` from the app's rate, or throws `rate_limited`. */
  spend(app: Owner, events: number): MaybePromise<RateHeaders>;
  /** Returns what a failed publish has taken. */
  giveBack(app: Pick<App, 'no'>, events: number): void;
}

export interface QuotaDeps {
  world: Pick<World, 'monotonicMs'>;
  store: Pick<Store, 'read' | 'isShared'>;
  fallback: Quotas;
}

export function createQuotas({ world, store, fallback }: QuotaDeps): AppQuotas {
  const debts = new NewestMap<number, Debt>(limits.pacesRememberedMax);
  const sharers = createSharers({ world, store });
  return {
    fallback,
    of: ({ quotas }) => quotasOf(quotas, fallback),
    spend: (app, events) => {
      const perSecond = quotasOf(app.quotas, fallback).eventsPerSecond;
      if (perSecond === undefined) return {};
      return whenReady(sharers(), (nodes) => {
        const share = perSecond / nodes;
        const nowMs = world.monotonicMs();
        const known = debts.get(app.no) ?? { perSecond: share, paidMs: 0 };
        const debt = rescale(known, nowMs, share);
        const taking = takeFromQuota({ ...debt, nowMs }, events);
        const paid = taking.kind === 'taken' ? { ...debt, paidMs: taking.paidMs } : debt;
        remember(debts, app.no, paid);
        if (taking.kind === 'refused') throw tooFast(perSecond, taking);
        return rateHeaders(perSecond, taking.left, taking.wholeMs);
      });
    },
    giveBack: ({ no }, events) => {
      const debt = debts.get(no);
      if (debt !== undefined) debts.set(no, refund(debt, events));
    },
  };
}

/**
 * As the IETF draft "RateLimit header fields for HTTP" defines them: structured fields, whole
 * seconds.
 */
function rateHeaders(perSecond: number, left: number, wholeMs: number): RateHeaders {
  return {
    'ratelimit-policy': `"events";q=${perSecond};w=1`,
    ratelimit: `"events";r=${left};t=${seconds(wholeMs)}`,
  };
}

function tooFast(
  perSecond: number,
  { waitMs, wholeMs }: { waitMs: number; wholeMs: number },
): Problem {
  const wait = seconds(waitMs);
  const detail =
    `Cannot publish: the quota of the app is ${perSecond} events per second, try again in ` +
    `${wait} s`;
  return new Problem('rate_limited', detail, {
    headers: { ...rateHeaders(perSecond, 0, wholeMs), 'retry-after': String(wait) },
  });
}

function seconds(ms: number): number {
  return Math.max(Math.ceil(ms / 1_000), 1);
}

/**
 * Inserts as the newest entry. Evicting the oldest is safe: an app that has not published for long
 * has its full rate.
 */
function remember(map: NewestMap<number, Debt>, appNo: number, debt: Debt): void {
  map.delete(appNo);
  map.set(appNo, debt);
}

/**
 * How many nodes serve requests, this one included, refreshed every few seconds. The last answer
 * stays in use during a refresh; after a failure the next publish asks again.
 */
function createSharers({
  world,
  store,
}: Pick<QuotaDeps, 'world' | 'store'>): () => MaybePromise<number> {
  let known: number | undefined;
  let askAgainMs = 0;
  let asking: Promise<number> | undefined;
  const ask = async (): Promise<number> => {
    const nodes = await store.read('nodes', {});
    known = Math.max(nodes.filter(({ role }) => role !== 'worker').length, 1);
    askAgainMs = world.monotonicMs() + limits.quotaSharersMs;
    return known;
  };
  return () => {
    if (!store.isShared) return 1;
    if (known !== undefined && world.monotonicMs() < askAgainMs) return known;
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    if (known === undefined) return asking;
    asking.catch(() => undefined); // The next publish asks again.
    return known;
  };
}
