// The circuit breaker as users and receivers see it, and Ringback's own events, over real sockets and with a wall clock
// that the test moves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brokenAfter } from '../../src/core/domain/circuit-breaker.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { start, type Started } from '../api/harness.ts';
import { movableWorld, type MovableWorld } from './movable-world.ts';
import { header, receive, type Receiver, type Reply } from './receiver.ts';
import {
  attempted,
  get,
  inState,
  onlyDelivery,
  patch,
  publish,
  quiet,
  subscribe,
  tryPublish,
} from './stage.ts';

const hourMs = 60 * 60_000;

interface SubscriptionView {
  state: string;
  health: { state: string; failures: number; failingSince?: string; nextAttemptAt?: string };
}

interface Scene extends AsyncDisposable {
  world: MovableWorld;
  service: Started;
  failing: Receiver;
  /** The subscription of the failing receiver. */
  id: string;
  /** A working receiver with its own event. */
  other: Receiver;
  otherId: string;
}

async function scene(): Promise<Scene> {
  await using cleanup = new AsyncDisposableStack();
  const world = movableWorld();
  const service = cleanup.use(await start({ world, env: { RINGBACK_RETRY: '1h,1h,1h' } }));
  const failing = cleanup.use(await receive(() => 500));
  const other = cleanup.use(await receive());
  const { id } = await subscribe(service, { callbackUrl: failing.url, event: 'a' });
  const { id: otherId } = await subscribe(service, { callbackUrl: other.url, event: 'b' });
  const all = cleanup.move();
  const dispose = async (): Promise<void> => all.disposeAsync();
  return { world, service, failing, id, other, otherId, [Symbol.asyncDispose]: dispose };
}

/** Opens the circuit breaker by failures; returns the ids of the deliveries. */
async function breakDown(on: Scene): Promise<string[]> {
  const ids: string[] = [];
  for (let count = 0; count < brokenAfter; count += 1) {
    const id = await send(on);
    await attempted(on.service, id);
    ids.push(id);
  }
  return ids;
}

/** Publishes to the failing receiver; returns the id of the delivery. */
async function send({ service, id: subscriberId }: Scene): Promise<string> {
  const { eventId } = await publish(service, 'a');
  return onlyDelivery(service, { eventId, subscriberId });
}

async function subscription({ service, id }: Scene): Promise<SubscriptionView> {
  return get<SubscriptionView>(service, `/subscriptions/${id}`);
}

/** Delivers to the other receiver: after that, every delivery that can be claimed has been claimed. */
async function nudge({ service, otherId: subscriberId }: Scene): Promise<void> {
  const { eventId } = await publish(service, 'b');
  const id = await onlyDelivery(service, { eventId, subscriberId });
  await inState(service, id, 'delivered');
}

describe('the circuit breaker', () => {
  it('opens after failures in a row, probes with one delivery and closes on success', async () => {
    await using on = await scene();
    const { world, service, failing } = on;
    assert.deepEqual((await subscription(on)).health, { state: 'ok', failures: 0 });
    await breakDown(on);
    const { health } = await subscription(on);
    assert.deepEqual([health.state, health.failures], ['open', brokenAfter]);
    assert(health.failingSince !== undefined);

    const waiting: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      waiting.push(await send(on));
    }
    await nudge(on);
    assert.equal(failing.requests.length, brokenAfter, 'nothing is sent while it is open');
    for (const id of waiting) {
      const { state, attemptCount } = await attempted(service, id, 0);
      assert.deepEqual(
        [state, attemptCount],
        ['due', 0],
        'it stays pending, and no attempt is used up',
      );
    }
    const nextAttemptAt = (await subscription(on)).health.nextAttemptAt ?? '';
    assert(Date.parse(nextAttemptAt) > world.nowMs());

    const answer = Promise.withResolvers<Reply>();
    failing.script = () => answer.promise;
    world.moveOn(Date.parse(nextAttemptAt) - world.nowMs());
    await nudge(on);
    await failing.waitFor(brokenAfter + 1);
    await nudge(on);
    assert.equal(failing.requests.length, brokenAfter + 1, 'exactly one probe');

    failing.script = () => 200;
    answer.resolve(200);
    for (const id of waiting) await inState(service, id, 'delivered');
    assert.equal(failing.requests.length, brokenAfter + waiting.length);
    assert.deepEqual((await subscription(on)).health, { state: 'ok', failures: 0 });
  });

  it('closes when the URL changes, and pending deliveries go there at once', async () => {
    await using on = await scene();
    const { service, failing, id } = on;
    await breakDown(on);
    const waiting = [await send(on), await send(on)];
    await using another = await receive();
    const changes = { callbacks: [{ position: 0, url: another.url }] };
    assert.equal((await patch(service, id, changes)).status, 200);
    assert.deepEqual((await subscription(on)).health, { state: 'ok', failures: 0 });
    for (const one of waiting) await inState(service, one, 'delivered');
    assert.deepEqual([failing.requests.length, another.requests.length], [brokenAfter, 2]);
  });

  it('stays open for longer after a failed probe', async () => {
    await using on = await scene();
    const { world, service, failing } = on;
    await breakDown(on);
    const id = await send(on);
    world.moveOn(31_000);
    await nudge(on);
    await attempted(service, id);
    const { health } = await subscription(on);
    assert.deepEqual([health.state, health.failures], ['open', brokenAfter + 1]);
    world.moveOn(31_000);
    await publish(service, 'a');
    await nudge(on);
    assert.equal(failing.requests.length, brokenAfter + 1);
  });
});

describe('a receiver that has failed for five days', () => {
  it('is disabled with an event of its own; after it is enabled again, everything arrives', async () => {
    await using on = await scene();
    const { world, service, failing, id } = on;
    await using told = await receive();
    await using everything = await receive();
    await subscribe(service, { callbackUrl: told.url, event: 'ringback.subscription.disabled' });
    await subscribe(service, everything.url);
    const ids = await breakDown(on);
    world.moveOn(limits.disableAfterMs);
    ids.push(await send(on));
    const [event] = await told.waitFor(1);
    assert(event);
    assert.equal((await subscription(on)).state, 'disabled');
    const path = `/audit?object=${id}&action=subscription.disabled`;
    const { items } = await get<{ items: { actor: object }[] }>(service, path);
    assert.deepEqual(
      items.map(({ actor }) => actor),
      [{ kind: 'service' }],
    );
    assert.equal(header(event, 'ringback-event'), 'ringback.subscription.disabled');
    const { message, ...facts } = JSON.parse(event.body.toString()) as Record<string, unknown>;
    assert.match(String(message), new RegExp(`^Subscription ${id} was disabled: `));
    assert.deepEqual(Object.keys(facts), [
      'subscriberId',
      'callbackUrl',
      'reason',
      'failures',
      'failingSince',
      'at',
    ]);
    assert.equal(facts['callbackUrl'], failing.url);
    const { attention } = await get<{ attention: Record<string, unknown>[] }>(service, '/stats');
    assert.deepEqual(
      attention.map((one) => [one['kind'], one['subscriberId']]),
      [['disabled', id]],
    );

    const requests = failing.requests.length;
    ids.push(await send(on));
    world.moveOn(2 * hourMs); // All pending retries are due.
    await nudge(on);
    assert.equal(failing.requests.length, requests, 'nothing is sent while it is disabled');

    failing.script = () => 200;
    assert.equal((await patch(service, id, { state: 'active' })).status, 200);
    for (const one of ids) await inState(service, one, 'delivered');
    await quiet(service);
    assert.deepEqual((await subscription(on)).health, { state: 'ok', failures: 0 });
    const names = everything.requests.map((one) => header(one, 'ringback-event'));
    assert(!names.some((name) => name.startsWith('ringback.')), '`*` does not match it');
    assert.equal(told.requests.length, 1);
  });
});

describe("Ringback's own events", () => {
  it('report dead deliveries and gone receivers; a dead own event causes no further one', async () => {
    await using service = await start({ env: { RINGBACK_RETRY: '1ms' } });
    await using failing = await receive(() => 500);
    await using gone = await receive(() => 410);
    await using told = await receive();
    await using deaf = await receive(() => 500);
    await using everything = await receive();
    const one = await subscribe(service, { callbackUrl: failing.url, event: 'a' });
    const other = await subscribe(service, { callbackUrl: gone.url, event: 'b' });
    for (const event of ['ringback.delivery.dead', 'ringback.subscription.gone']) {
      await subscribe(service, { callbackUrl: told.url, event });
    }
    await subscribe(service, { callbackUrl: deaf.url, event: 'ringback.delivery.dead' });
    await subscribe(service, everything.url);
    await using prefix = await receive();
    const { id } = await subscribe(service, prefix.url);
    const events = [{ position: 0, events: ['ringback.*'] }];
    assert.equal((await patch(service, id, { callbacks: events })).status, 200);

    const a = await publish(service, 'a');
    await told.waitFor(1);
    await prefix.waitFor(1);
    const b = await publish(service, 'b');
    await told.waitFor(2);
    const ended = await quiet(service);
    const [dead = {}, left = {}] = told.requests.map((request): Record<string, unknown> => ({
      name: header(request, 'ringback-event'),
      ...(JSON.parse(request.body.toString()) as Record<string, unknown>),
    }));
    assert.equal(told.requests.length, 2, 'the dead own event caused no further one');
    assert(ended.some(({ event, state }) => event.startsWith('ringback.') && state === 'dead'));

    const { message, at, ...facts } = dead;
    assert.match(
      String(message),
      /^Delivery dlv_\w+ of event "a" to http:\S+ is dead-lettered: 2 attempts/,
    );
    assert(Number.isFinite(Date.parse(String(at))));
    assert.deepEqual(facts, {
      name: 'ringback.delivery.dead',
      subscriberId: one.id,
      callbackUrl: failing.url,
      deliveryId: await onlyDelivery(service, { eventId: a.eventId, subscriberId: one.id }),
      eventId: a.eventId,
      event: 'a',
      reason: 'exhausted',
      attempts: 2,
      status: 500,
      error: 'status',
    });
    assert.deepEqual(
      [left['name'], left['subscriberId'], left['eventId'], left['status']],
      ['ringback.subscription.gone', other.id, b.eventId, 410],
    );
    const heard = everything.requests.map((request) => header(request, 'ringback-event'));
    assert.deepEqual(heard, ['a', 'b'], '`*` does not match them');
    const byPrefix = prefix.requests.map((request) => header(request, 'ringback-event'));
    assert.deepEqual(byPrefix, ['ringback.delivery.dead', 'ringback.subscription.gone']);
    const list = await get<{ items: { event: string }[] }>(service, '/events?event=ringback.*');
    assert.deepEqual(
      list.items.map(({ event }) => event),
      ['ringback.subscription.gone', 'ringback.delivery.dead'],
    );
  });

  it('are listed with a schema and an example, and cannot be published by clients', async () => {
    await using service = await start();
    const { own } = await get<{ own: { event: string; example: unknown }[] }>(
      service,
      '/event-types',
    );
    assert.equal(own.length, 4);
    for (const { event, example } of own) {
      assert.match(event, /^ringback\./);
      const payload = JSON.stringify(example);
      assert.equal((await tryPublish(service, event, { payload })).status, 400);
    }
  });
});
