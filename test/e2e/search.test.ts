// Searches for deliveries, events and subscriptions over HTTP, as the console does.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attemptErrors } from '../../src/core/domain/attempt.ts';
import { start, type Running } from '../api/harness.ts';
import { receive, type Receiver } from './receiver.ts';
import { get, publish, subscribe, until, type DeliveryView, type Page } from './stage.ts';

interface EventView {
  id: string;
  event: string;
  createdAt: string;
}

describe('search', () => {
  let service: Running;
  let receiver: Receiver;
  const ids = { good: '', lost: '', moved: '', shut: '' };

  // No retry happens during the test, so failed deliveries stay pending with their error.
  before(async () => {
    service = await start({ env: { RINGBACK_RETRY: '1h' } });
    receiver = await receive(async ({ url }) => {
      if (url.startsWith('/hook/lost')) return 404;
      return url.startsWith('/hook/moved') ? 301 : 204;
    });
    const to = async (url: string): Promise<string> => (await subscribe(service, url)).id;
    ids.good = await to(`${receiver.url}/good`);
    ids.lost = await to(`${receiver.url}/lost`);
    ids.moved = (
      await subscribe(service, { callbackUrl: `${receiver.url}/moved`, event: 'order.paid' })
    ).id;
    const gone = await receive();
    await gone[Symbol.asyncDispose]();
    ids.shut = await to(`${gone.url}/Shut`);
    for (const name of ['order.created', 'order.paid', 'orders', 'user.left']) {
      await publish(service, name);
    }
    await until(
      async () => get<Page<DeliveryView>>(service, '/deliveries'),
      ({ items }) => items.length === 13 && items.every((one) => one.attemptCount === 1),
    );
  });
  after(async () => {
    await receiver[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  async function found(query: string): Promise<DeliveryView[]> {
    const { items, nextCursor } = await get<Page<DeliveryView>>(service, `/deliveries?${query}`);
    assert.equal(nextCursor, null);
    return items;
  }

  async function count(query: string): Promise<number> {
    return (await found(query)).length;
  }

  it('shows the error of the last attempt while a retry is pending', async () => {
    const shown = async (query: string): Promise<unknown[]> =>
      (await found(query)).map(({ state, status, error, subscriberId }) => [
        state,
        status,
        error,
        subscriberId,
      ]);
    assert.deepEqual(await shown('state=retrying&event=order.paid'), [
      ['due', undefined, 'refused', ids.shut],
      ['due', 404, 'status', ids.lost],
      ['due', 301, 'redirect', ids.moved],
    ]);
    assert.deepEqual(await shown('state=delivered&event=user.left'), [
      ['delivered', 204, undefined, ids.good],
    ]);
  });

  it('finds deliveries by state, pattern, status and error, and by combinations', async () => {
    const counts: Record<string, number> = {
      'state=retrying': 9,
      'state=pending': 9,
      'state=due': 9,
      'state=running': 0,
      'state=delivered': 4,
      'event=order.*': 7,
      'event=*': 13,
      'event=order.*&state=delivered': 2,
      'status=2xx': 4,
      'status=204': 4,
      'status=200': 0,
      'status=4xx': 4,
      'status=404': 4,
      'status=3xx': 1,
      'status=5xx': 0,
      'error=refused': 4,
      'error=redirect': 1,
      'error=status': 4,
      'error=exhausted': 0,
      'error=refused&event=order.*': 2,
      'error=refused&status=4xx': 0,
      [`status=4xx&subscriberId=${ids.lost}`]: 4,
      [`status=4xx&subscriberId=${ids.good}`]: 0,
      [`event=user.*&subscriberId=${ids.lost}&state=retrying`]: 1,
    };
    for (const [query, expected] of Object.entries(counts)) {
      assert.equal(await count(query), expected, query);
    }
  });

  it('accepts the times that it shows: from is inclusive, until is exclusive', async () => {
    const { items } = await get<Page<EventView>>(service, '/events');
    assert.deepEqual(
      items.map(({ event }) => event),
      ['user.left', 'orders', 'order.paid', 'order.created'],
    );
    for (const { createdAt } of items) {
      const since = items.filter((one) => one.createdAt >= createdAt).length;
      const atTime = encodeURIComponent(createdAt);
      const from = await get<Page<EventView>>(service, `/events?from=${atTime}`);
      const until_ = await get<Page<EventView>>(service, `/events?until=${atTime}`);
      assert.deepEqual([from.items.length, until_.items.length], [since, items.length - since]);
      assert.equal(
        (await count(`from=${atTime}`)) + (await count(`until=${atTime}`)),
        13,
        createdAt,
      );
    }
    // Times with an offset, and an empty range.
    assert.equal(await count('from=2000-01-01T00:00:00%2B02:00&until=2100-01-01T00:00:00.5Z'), 13);
    assert.equal(await count('from=2100-01-01T00:00:00Z&until=2100-01-01T00:00:00Z'), 0);
  });

  it('finds events by pattern', async () => {
    for (const [pattern, expected] of Object.entries({ 'order.*': 2, '*': 4, orders: 1 })) {
      const { items } = await get<Page<EventView>>(service, `/events?event=${pattern}`);
      assert.equal(items.length, expected, pattern);
    }
  });

  it('finds subscriptions by event and by a part of their URL', async () => {
    const all = async (query: string): Promise<string[]> =>
      (await get<Page<{ id: string }>>(service, `/subscriptions?${query}`)).items.map(
        ({ id }) => id,
      );
    assert.deepEqual(await all('event=order.paid'), [ids.shut, ids.moved, ids.lost, ids.good]);
    assert.deepEqual(await all('event=order.created'), [ids.shut, ids.lost, ids.good]);
    assert.deepEqual(await all('url=/hook/lost'), [ids.lost]);
    assert.deepEqual(await all('url=SHUT'), [ids.shut]);
    assert.deepEqual(await all('url=%25'), []);
    assert.deepEqual(await all('url=/LO&event=order.created&state=active'), [ids.lost]);
  });

  it('accepts every error name', async () => {
    for (const error of [...attemptErrors, 'expired', 'exhausted']) await count(`error=${error}`);
  });
});
