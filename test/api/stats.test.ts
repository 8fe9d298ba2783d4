// Statistics over HTTP: counts per step of an app and of its subscriptions.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { get, inState, onlyDelivery, publish, quiet, subscribe, until } from '../e2e/stage.ts';
import { receive } from '../e2e/receiver.ts';
import { start, type Running } from './harness.ts';
import { hastyWorld } from './hasty-world.ts';

interface Counts {
  published: number;
  delivered: number;
  retried: number;
  dead: number;
  cancelled: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

interface Totals extends Counts {
  successRate: number | null;
}

interface Stats {
  from: string;
  until: string;
  stepSeconds: number;
  steps: (Counts & { at: string })[];
  totals: Totals;
  pending: number;
  pendingIsCapped: boolean;
  oldestPendingAt: string | null;
  attention: Record<string, unknown>[];
}

interface SubscriptionStats {
  stepSeconds: number;
  items: {
    subscriberId: string;
    delivered: number[];
    failed: number[];
    totals: Totals;
    pending: number;
    pendingIsCapped: boolean;
  }[];
}

const nothing = { published: 0, delivered: 0, retried: 0, dead: 0, cancelled: 0 };
const noLatency = { p50Ms: null, p95Ms: null };

describe('GET /stats', () => {
  it('returns every step, with zeros for steps without events', async () => {
    await using service = await start();
    const stats = await get<Stats>(service, '/stats');
    assert.equal(stats.stepSeconds, 60);
    assert.equal(stats.steps.length, 60);
    const first = Date.parse(stats.from);
    for (const [i, { at, ...step }] of stats.steps.entries()) {
      assert.equal(Date.parse(at), first + i * 60_000);
      assert.deepEqual(step, { ...nothing, ...noLatency });
    }
    assert.equal(Date.parse(stats.until), first + 60 * 60_000);
    assert.deepEqual(stats.totals, { ...nothing, ...noLatency, successRate: null });
    const { pending, pendingIsCapped, oldestPendingAt, attention } = stats;
    assert.deepEqual([pending, pendingIsCapped, oldestPendingAt, attention], [0, false, null, []]);
  });

  it('returns the steps of each range, the current one last', async () => {
    await using service = await start();
    const expected = { '15m': [60, 15], '1h': [60, 60], '24h': [1_800, 48], '7d': [10_800, 56] };
    for (const [range, [stepSeconds, steps]] of Object.entries(expected)) {
      const askedMs = Date.now();
      const stats = await get<Stats>(service, `/stats?range=${range}`);
      assert.deepEqual([stats.stepSeconds, stats.steps.length], [stepSeconds, steps], range);
      const last = Date.parse(stats.steps.at(-1)?.at ?? '');
      assert(last <= Date.now() && Date.parse(stats.until) > askedMs, range);
    }
  });

  it('counts publishes and attempts at once', async () => {
    await using receiver = await receive(({ url }) => (url.startsWith('/bad') ? 500 : 200));
    await using service = await start({ env: { RINGBACK_RETRY: '1h' } });
    await subscribe(service, receiver.url);
    const { id } = await subscribe(service, `http://127.0.0.1:${receiver.port}/bad`);
    const { eventId } = await publish(service, 'a');
    const bad = await onlyDelivery(service, { eventId, subscriberId: id });
    await receiver.answered(2);
    const stats = await until(
      async () => get<Stats>(service, '/stats?range=15m'),
      ({ totals }) => totals.delivered + totals.retried === 2,
    );
    const { p50Ms, p95Ms, successRate, ...counts } = stats.totals;
    assert.deepEqual(counts, { ...nothing, published: 1, delivered: 1, retried: 1 });
    assert.equal(successRate, 0.5);
    assert(p50Ms !== null && p95Ms !== null && p50Ms <= p95Ms);
    assert.equal(stats.pending, 1);
    const { items } = await get<{ items: { createdAt: string }[] }>(service, '/events');
    const published = Date.parse(items[0]?.createdAt ?? '');
    assert(Math.abs(Date.parse(stats.oldestPendingAt ?? '') - published) < 1_000);
    const [{ since, ...attention } = {}, ...others] = stats.attention;
    assert.deepEqual(others, []);
    assert.deepEqual(attention, {
      kind: 'failing',
      subscriberId: id,
      url: `http://127.0.0.1:${receiver.port}/bad`,
      failures: 1,
      error: 'status',
      status: 500,
    });
    assert.match(String(since), /^\d{4}-.*Z$/);
    await service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    await inState(service, bad, 'cancelled');
    const after = await get<Stats>(service, '/stats');
    assert.deepEqual([after.totals.cancelled, after.pending, after.attention], [1, 0, []]);
  });

  it('accepts from and until instead of a range, in at most 120 steps', async () => {
    await using service = await start();
    await publish(service, 'a');
    const nowMs = Date.now();
    const at = (ms: number): string => new Date(nowMs + ms).toISOString();
    const day = 24 * 60 * 60_000;
    const month = await get<Stats>(service, `/stats?from=${at(-30 * day)}&until=${at(day)}`);
    assert(month.steps.length <= 120 && month.stepSeconds % 60 === 0);
    assert.equal(month.totals.published, 1);
    const open = await get<Stats>(service, `/stats?from=${at(-60_000)}`);
    assert.equal(open.stepSeconds, 60);
    assert.equal(open.totals.published, 1);
    const past = await get<Stats>(service, `/stats?from=${at(-2 * day)}&until=${at(-day)}`);
    assert.equal(past.totals.published, 0);
    const all = await get<Stats>(service, '/stats?from=0001-01-01T00:00:00Z');
    assert.equal(all.totals.published, 1);
    const ever = await get<Stats>(
      service,
      '/stats?from=0000-01-01T00:00:00Z&until=9999-12-31T23:59:59Z',
    );
    assert.equal(ever.totals.published, 1);
    for (const time of [ever.from, ever.until, ever.steps[0]?.at])
      assert.match(time ?? '', /^\d{4}-/);
  });

  it('refuses invalid times', async () => {
    await using service = await start();
    for (const [query, message] of [
      ['range=2h', /query\.range/],
      ['from=yesterday', /query\.from/],
      ['from=2026-06-30T23:59:60Z', /query\.from .*leap second/],
      ['from=9999-12-31T23:59:59-23:59', /query\.from .*9999/],
      ['from=9999-12-31T12:00:00Z&until=9999-12-31T13:00:00Z', /query\.until/],
      ['until=2026-01-01T00:00:00Z', /query\.from is missing/],
      ['from=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z', /query\.until .*later time/],
      ['range=1h&from=2026-01-01T00:00:00Z', /query\.range cannot be combined with/],
    ] as const) {
      const { status, json } = await service.call({ path: `/stats?${query}` });
      assert.deepEqual([status, json['code']], [400, 'invalid_request'], query);
      assert.match(String(json['detail']), message);
    }
  });

  it('filters by subscription, and answers 404 for an unknown one', async () => {
    await using receiver = await receive(() => 200);
    await using service = await start({ world: hastyWorld() });
    const { id } = await subscribe(service, receiver.url);
    await subscribe(service, receiver.url);
    await publish(service, 'a');
    await quiet(service);
    const stats = await until(
      async () => get<Stats>(service, `/stats?subscriberId=${id}`),
      ({ totals }) => totals.delivered === 1,
    );
    assert.equal(stats.totals.published, 1);
    assert.deepEqual([stats.pending, stats.attention], [0, []]);
    for (const unknown of ['sub_01jzzzzzzzzzzzzzzzzzzzzzzz', 'nobody']) {
      const { status } = await service.call({ path: `/stats?subscriberId=${unknown}` });
      assert.equal(status, 404);
    }
  });

  it('requires the scope read', async () => {
    await using service = await start();
    const key = await keyWith(service, ['publish']);
    for (const path of ['/stats', '/stats/subscriptions?subscriberIds=sub_x']) {
      assert.equal((await service.call({ path, key })).status, 403);
      assert.equal((await service.call({ path, key: null })).status, 401);
    }
  });
});

describe('GET /stats/subscriptions', () => {
  it('returns the known ones, step by step', async () => {
    await using receiver = await receive(({ url }) => (url.startsWith('/bad') ? 500 : 200));
    await using service = await start({ env: { RINGBACK_RETRY: '1h' }, world: hastyWorld() });
    const good = await subscribe(service, receiver.url);
    const bad = await subscribe(service, `http://127.0.0.1:${receiver.port}/bad`);
    await publish(service, 'a');
    const path = `/stats/subscriptions?subscriberIds=${bad.id},sub_nobody,${good.id}&range=24h`;
    const { items, stepSeconds } = await until(
      async () => get<SubscriptionStats>(service, path),
      (page) => page.items.every(({ totals: { delivered, retried } }) => delivered + retried === 1),
    );
    assert.equal(stepSeconds, 1_800);
    assert.deepEqual(
      items.map(({ subscriberId, pending }) => [subscriberId, pending]),
      [
        [bad.id, 1],
        [good.id, 0],
      ],
    );
    for (const { delivered, failed } of items) {
      assert.deepEqual([delivered.length, failed.length], [48, 48]);
    }
    assert.deepEqual([items[0]?.failed.at(-1), items[1]?.delivered.at(-1)], [1, 1]);
    assert.deepEqual([items[0]?.totals.successRate, items[1]?.totals.successRate], [0, 1]);
  });

  it('accepts 1 to 50 ids', async () => {
    await using service = await start();
    const many = Array.from({ length: 51 }, () => 'sub_x').join(',');
    for (const query of ['', '?subscriberIds=', `?subscriberIds=${many}`]) {
      const { status } = await service.call({ path: `/stats/subscriptions${query}` });
      assert.equal(status, 400, query);
    }
  });
});

async function keyWith(service: Running, scopes: readonly string[]): Promise<string> {
  const body = { name: 'some', scopes };
  const { json } = await service.call({ method: 'POST', path: '/keys', body });
  return String(json['key']);
}
