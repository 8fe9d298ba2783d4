// Loops of events and callbacks must end: events caused by a callback carry its hop count.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { createClient } from '../../src/client/client.ts';
import { createReceiver } from '../../src/receiver/receiver.ts';
import { start, type Running } from '../api/harness.ts';
import { freshDatabase } from '../postgres/database.ts';
import { header, receive } from './receiver.ts';
import { get, onlyDelivery, publish, quiet, subscribe, type Page } from './stage.ts';

/** An event whose payload is an event, and so on, so that each callback publishes the next one. */
function nested(depth: number): unknown {
  return depth === 0 ? {} : { event: 'loop', payload: nested(depth - 1) };
}

/** More hops than allowed. */
const depth = limits.hopsMax + 3;
const hopsAllowed = Array.from({ length: limits.hopsMax + 1 }, (_, hops) => hops);
/** Lenient, because the payloads do not match the contract. */
const env = { RINGBACK_RETRY: '10ms', RINGBACK_LENIENT: 'on' };

async function events(service: Running): Promise<number> {
  return (await get<Page<unknown>>(service, '/events?limit=500')).items.length;
}

interface Seen {
  status?: number;
  response?: { body: string };
}

/** The responses to the attempts of the last callback, which exceeded the limit. */
async function refusals(service: Running): Promise<Seen[]> {
  const all = await quiet(service);
  const dead = all.filter(({ state }) => state === 'dead');
  assert.equal(dead.length, 1, 'one delivery was refused');
  const one = await get<{ attempts: Seen[] }>(service, `/deliveries/${dead[0]?.id}`);
  return one.attempts;
}

function assertLoopRefused(attempts: readonly Seen[]): void {
  for (const { status, response } of attempts) {
    assert.equal(status, 422);
    assert.match(response?.body ?? '', /"too_many_hops".*6 callbacks.*loop/);
  }
}

for (const [database, open] of Object.entries({
  SQLite: async () => ({ env, [Symbol.asyncDispose]: async () => undefined }),
  PostgreSQL: async () => {
    const fresh = await freshDatabase();
    return { ...fresh, env: { ...env, DATABASE_URL: fresh.url } };
  },
})) {
  describe(`a callback to Ringback's own publish operation, on ${database}`, () => {
    it('stops at the hop limit', async () => {
      await using store = await open();
      await using service = await start({ env: store.env });
      await subscribe(service, `${service.url}/events?api_key=${service.key}`);
      await publish(service, 'loop', { payload: JSON.stringify(nested(depth)) });
      assertLoopRefused(await refusals(service));
      assert.equal(await events(service), hopsAllowed.length);
    });
  });
}

describe('the hop count', () => {
  it('ends a loop of batches, even with an idempotency key', async () => {
    await using service = await start({ env });
    const batch = (left: number): unknown =>
      left === 0 ? {} : { events: [{ event: 'loop', payload: batch(left - 1) }] };
    await subscribe(service, `${service.url}/events/batch?api_key=${service.key}`);
    const body = { events: [{ event: 'loop', payload: batch(depth) }] };
    await service.call({ method: 'POST', path: '/events/batch', body });
    assertLoopRefused(await refusals(service));
    assert.equal(await events(service), hopsAllowed.length);
    const headers = { 'Ringback-Hops': '6', 'Idempotency-Key': 'k' };
    const refused = await service.call({ method: 'POST', path: '/events/batch', headers, body });
    assert.deepEqual([refused.status, refused.json['code']], [422, 'too_many_hops']);
  });

  it('ends a loop of test messages', async () => {
    await using service = await start({ env });
    const { id } = await subscribe(service, `${service.url}/healthz`);
    const callbacks = [
      { position: 0, url: `${service.url}/subscriptions/${id}/ping?api_key=${service.key}` },
    ];
    const path = `/subscriptions/${id}`;
    assert.equal((await service.call({ method: 'PATCH', path, body: { callbacks } })).status, 200);
    await service.call({ method: 'POST', path: `${path}/ping` });
    assertLoopRefused(await refusals(service));
    assert.equal(await events(service), hopsAllowed.length);
  });

  it('is passed on by the receiver and client libraries', async () => {
    await using service = await start({ env });
    const client = createClient({ url: service.url, key: service.key, retries: 0 });
    const seen: (number | undefined)[] = [];
    const secrets: string[] = [];
    await using receiver = await receive(async ({ headers, body }) => {
      const callback = await createReceiver({ secret: secrets }).verify({ headers, body });
      seen.push(callback.hops);
      try {
        await client.publish({ event: 'loop', payload: {} }, { causedBy: callback });
        return 200;
      } catch {
        return 410;
      }
    });
    secrets.push((await subscribe(service, receiver.url)).secret);
    await publish(service, 'loop');
    await quiet(service);
    assert.deepEqual(
      seen,
      hopsAllowed.map((hops) => hops + 1),
    );
  });

  it('is the same in every attempt and retry', async () => {
    await using service = await start({ env });
    let answer = 500;
    await using receiver = await receive(() => answer);
    await subscribe(service, receiver.url);
    const headers = { 'Ringback-Hops': '3' };
    const body = { event: 'e', payload: {} };
    const { json } = await service.call({ method: 'POST', path: '/events', headers, body });
    await quiet(service);
    answer = 200;
    const id = await onlyDelivery(service, { eventId: String(json['eventId']) });
    await service.call({ method: 'POST', path: `/deliveries/${id}/retry` });
    await quiet(service);
    const hops = receiver.requests.map((one) => header(one, 'ringback-hops'));
    assert.ok(hops.length > 2);
    assert.deepEqual(new Set(hops), new Set(['4']));
  });

  it('does not affect the trace of the event', async () => {
    await using service = await start({ env });
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = { 'Ringback-Hops': '2', traceparent };
    const body = { event: 'e', payload: {} };
    await service.call({ method: 'POST', path: '/events', headers, body });
    const [one] = await receiver.waitFor(1);
    assert(one);
    assert.deepEqual(
      [header(one, 'ringback-hops'), header(one, 'traceparent')],
      ['3', traceparent],
    );
  });

  it('is refused unless it is a number', async () => {
    await using service = await start({ env });
    for (const hops of ['x', '-1', '1.5', '1, 2']) {
      const headers = { 'Ringback-Hops': hops };
      const body = { event: 'e', payload: {} };
      const { status } = await service.call({ method: 'POST', path: '/events', headers, body });
      assert.equal(status, 400, hops);
    }
  });
});
