// Hostile receivers. Whatever they do, an attempt must end in time, be recorded with the right error, and not delay other
// receivers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { realWorld, type World } from '../../src/core/base/world.ts';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { start, type Running } from '../api/harness.ts';
import { behaviours, meaningOf, type Behaviour } from '../egress/receiver-behaviours.ts';
import { thenEnds } from '../egress/hostile-connections.ts';
import { receiveRaw, type RawReceiver } from './raw-receiver.ts';
import { header, receive, type Receiver } from './receiver.ts';
import {
  attempted,
  get,
  onlyDelivery,
  publish,
  subscribe,
  until,
  type Accepted,
  type DeliveryView,
  type Page,
} from './stage.ts';
import { Tally } from './awaitable-count.ts';

/** Less than the default timeout of 15 s, so a shorter attempt was ended by the limit under test. */
const endedMs = 14_000;

/** The longest time that a timer can take. */
const neverMs = 2 ** 31 - 1;

/** Log lines of level error: no receiver may cause one. */
const ownFailure = /"level":[56]0/;

/** A selection of the catalogue, since each starts a service here; `npm run proof` covers all of it. */
const met = [
  'hangs after accept',
  'drips its head',
  'drips its status line',
  'drips its body',
  'stops after its head',
  'never ends a chunk extension',
  'never ends its body',
  'never ends the body of a 500',
  'closes before it answers',
  'resets before it answers',
  'closes in its head',
  'closes in its body',
  'floods 103',
  'sends a gzip bomb',
  'never ends its headers',
  'never ends one header',
  'sends garbage for ever',
  'speaks SSH',
  'speaks HTTP/0.9',
  'answers 101',
  'has two lengths',
].map(behaviourOf);

function behaviourOf(does: string): Behaviour {
  const found = behaviours.find((one) => one.does === does);
  assert(found, `unknown behaviour "${does}"`);
  return found;
}

/** `timeout`: overrides the service's timeout for their attempts. */
async function subscribeAll(
  service: Running,
  receivers: readonly { url: string }[],
  timeout?: string,
): Promise<string[]> {
  const ids: string[] = [];
  for (const { url: callbackUrl } of receivers) {
    const body = { callbackUrl, ...(timeout !== undefined && { 'x-ringback': { timeout } }) };
    ids.push((await subscribe(service, { body })).id);
  }
  return ids;
}

function disposer(receivers: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(receivers.map(async (one) => one[Symbol.asyncDispose]()));
    },
  };
}

describe('a receiver that', () => {
  /**
   * One second if only the timeout can end the attempt. All others get a minute, so that the timeout does not come first
   * on an overloaded machine.
   */
  const envFor = (is: string): Record<string, string> => ({
    RINGBACK_TIMEOUT: is === 'timeout' ? '1s' : '60s',
    RINGBACK_RETRY: '1h',
  });
  for (const behaviour of met) {
    const { does, is, serve, isEndless = false } = behaviour;
    it(`${does}: recorded as ${is}`, async () => {
      await using service = await start({ env: envFor(is) });
      await using receiver = await receiveRaw(serve);
      await subscribe(service, receiver.url);
      const id = await onlyDelivery(service, await publish(service, 'a'));
      await receiver.closed.reach(1);
      const delivery = await attempted(service, id);
      const [attempt, ...others] = delivery.attempts;
      assert(attempt);
      assert.deepEqual([others.length, receiver.requests.count], [0, 1]);
      if (is === 'timeout') assert.ok(attempt.tookMs <= endedMs, `it took ${attempt.tookMs} ms`);
      const deps = meaningOf(behaviour);
      assert.equal(delivery.state, deps.state === 'delivered' ? 'delivered' : 'due');
      assert.deepEqual([attempt.error, attempt.status], [deps.error, deps.status]);
      assert.equal(attempt.response?.isCut, deps.status === undefined ? undefined : true);
      assert.doesNotMatch(service.logged(), ownFailure);
      if (isEndless) assert.ok(attempt.tookMs >= 990, `it took ${attempt.tookMs} ms`);
      if (attempt.response === undefined) assert.match(attempt.message ?? '', /127\.0\.0\.1/);
      else assert.ok(Buffer.byteLength(attempt.response.body) <= 3 * 16_384);
    });
  }

  it('redirects to another server: recorded as redirect, and the other one is not called', async () => {
    await using service = await start({ env: envFor('redirect') });
    await using canary = await receiveRaw(() => undefined);
    const go = `HTTP/1.1 307 Go\r\nlocation: ${canary.url}\r\ncontent-length: 0\r\n\r\n`;
    await using receiver = await receiveRaw(thenEnds(go, 'end'));
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    await receiver.closed.reach(1);
    const { state, error, status } = await attempted(service, id);
    assert.deepEqual([state, error, status], ['due', 'redirect', 307]);
    assert.equal(canary.connected.count, 0);
  });
});

describe('with the default timeout, a receiver that', () => {
  it('drips its body is waited for one more second after its head, not for fifteen', async () => {
    await using service = await start();
    await using receiver = await receiveRaw(behaviourOf('drips its body').serve);
    await subscribe(service, receiver.url);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    await receiver.closed.reach(1);
    const { state, attempts } = await attempted(service, id);
    assert.deepEqual([state, attempts[0]?.response?.isCut], ['delivered', true]);
    assert.ok((attempts[0]?.tookMs ?? Infinity) <= endedMs, `it took ${attempts[0]?.tookMs} ms`);
  });
});

describe('99 healthy subscriptions among hostile ones', () => {
  const healthyCount = 99;
  /**
   * Attempts never time out here, however busy the machine is. So healthy receivers get no duplicates, and hostile ones
   * keep their slots unless another limit ends the attempt.
   */
  const timeoutMs = 60_000;
  const world: World = {
    ...realWorld(),
    // The sleep for a timeout is shorter than the timeout by the time that has already passed.
    sleep: async (ms, signal) => realWorld().sleep(ms < timeoutMs / 2 ? ms : neverMs, signal),
  };
  const settings = { RINGBACK_TIMEOUT: `${timeoutMs}ms` };

  /** Healthy receivers, and a count of their callbacks. */
  async function startHealthy(): Promise<{ receivers: Receiver[]; came: Tally }> {
    const came = new Tally('healthy callbacks came');
    const receivers: Receiver[] = [];
    for (let index = 0; index < healthyCount; index += 1) {
      receivers.push(
        await receive(() => {
          came.add();
          return 200;
        }),
      );
    }
    return { receivers, came };
  }

  async function startHostile(serves: readonly Behaviour['serve'][]): Promise<RawReceiver[]> {
    return Promise.all(serves.map(receiveRaw));
  }

  /** Publishes all in one request. */
  async function publishAll(
    service: Running,
    counts: { events: number; subscribers: number },
  ): Promise<string[]> {
    const events = Array.from({ length: counts.events }, (_event, index) => ({
      event: `event.${index}`,
      payload: { message: 'hello' },
    }));
    const path = '/events/batch';
    const answer = await service.call({ method: 'POST', path, body: { events } });
    assert.equal(answer.status, 202, answer.text);
    const { items } = answer.json as unknown as { items: Accepted[] };
    for (const { deliveries } of items) assert.equal(deliveries, counts.subscribers);
    return items.map(({ eventId }) => eventId);
  }

  function assertAllHeard(receivers: readonly Receiver[], eventIds: readonly string[]): void {
    const all = eventIds.toSorted();
    for (const { requests } of receivers) {
      // Exactly once: nothing is lost, and without a crash there are no duplicates.
      assert.deepEqual(requests.map((one) => header(one, 'webhook-id')).toSorted(), all);
    }
  }

  async function pendingOf(service: Running, subscriberId: string): Promise<DeliveryView[]> {
    const path = `/deliveries?limit=500&subscriberId=${subscriberId}`;
    const { items } = await get<Page<DeliveryView>>(service, path);
    return items.filter(({ state }) => state === 'due' || state === 'running');
  }

  function isRetried(deliveries: readonly DeliveryView[]): boolean {
    return deliveries.some(({ attemptCount }) => attemptCount >= 2);
  }

  it('get 20 events each while hostile attempts keep their slots', async () => {
    const events = 20;
    await using service = await start({ env: settings, world });
    const { receivers, came } = await startHealthy();
    await using _healthy = disposer(receivers);
    const slow = [
      'drips its status line',
      'drips its head',
      ...Array(6).fill('hangs after accept'),
    ];
    const hostile = await startHostile(slow.map((does) => behaviourOf(does).serve));
    await using _hostile = disposer(hostile);
    await subscribeAll(service, hostile);
    await subscribeAll(service, receivers);
    const subscribers = hostile.length + healthyCount;
    const eventIds = await publishAll(service, { events, subscribers });
    for (const { requests } of hostile) await requests.reach(1);
    await came.reach(healthyCount * events);
    for (const { requests, closed } of hostile) {
      // At most as many as a new lane may have in flight; fewer if others were already hanging.
      assert.ok(requests.count <= 8, `${requests.count} at a time`);
      assert.equal(closed.count, 0);
    }
    assertAllHeard(receivers, eventIds);
    assert.doesNotMatch(service.logged(), ownFailure);
  });

  it('get 10 events each while hostile ones time out and are retried', async () => {
    const events = 10;
    const waits = '200ms,1s,10s,1m,10m,1h'; // Enough retries that no delivery is dead by the end.
    await using service = await start({ env: { ...settings, RINGBACK_RETRY: waits }, world });
    const { receivers, came } = await startHealthy();
    await using _healthy = disposer(receivers);
    const failing = met.filter((one) => meaningOf(one).state === 'failed');
    const hostile = await startHostile(failing.map(({ serve }) => serve));
    await using _hostile = disposer(hostile);
    const hostileIds = await subscribeAll(service, hostile, '1s');
    await subscribeAll(service, receivers);
    const subscribers = hostile.length + healthyCount;
    // Fewer failures than open the circuit breaker: otherwise the first retry is its probe, after half a minute.
    const early = Math.floor(brokenAfter / 2);
    const first = await publishAll(service, { events: early, subscribers });
    // Recorded attempts, not requests that arrived: on a busy machine the second may be over before a request was sent.
    for (const id of hostileIds) await until(async () => pendingOf(service, id), isRetried);
    const others = await publishAll(service, { events: events - early, subscribers });
    await came.reach(healthyCount * events);
    for (const id of hostileIds) assert.equal((await pendingOf(service, id)).length, events);
    assertAllHeard(receivers, [...first, ...others]);
    assert.doesNotMatch(service.logged(), ownFailure);
  });
});
