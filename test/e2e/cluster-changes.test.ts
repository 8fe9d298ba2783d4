import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Env } from '../cli/ringback-process.ts';
import { freshDatabase } from '../postgres/database.ts';
import { changedSource } from '../proof/controls/change-source.ts';
import { startNodes, type ClusterNode } from './cluster.ts';
import { Lag, nowMs } from './event-loop-lag.ts';
import { header, receive, type Received, type Receiver } from './receiver.ts';
import {
  get,
  patch,
  publish,
  subscribe,
  until,
  type DeliveryView,
  type Page,
  type Subscribed,
} from './stage.ts';

/**
 * Node B must obey a change within this time of node A's response. The guarantee is a time, so it is measured with the
 * clock, minus the lag of this process.
 */
const obeyMs = 1_000;
/** How late B may send when it shares its core with other processes. */
const slackMs = 500;
/** Events published each time: more than B can send meanwhile, so that it stays busy. */
const backlog = 400;
const receiverMs = 20;

/**
 * Per origin. With the product's 128, it takes a while until more deliveries are leased than have a connection, and by
 * then a node on a busy machine limits deliveries to hanging receivers.
 */
const connectionsMax = 8;
const fewConnections = changedSource([
  {
    file: 'src/core/limits/limits.ts',
    find: 'connectionsPerOriginMax: 128',
    replace: `connectionsPerOriginMax: ${connectionsMax}`,
  },
]);

interface Came {
  request: Received;
  atMs: number;
}

interface Stage extends AsyncDisposable {
  /** Serves the API and delivers nothing. */
  a: ClusterNode;
  b: ClusterNode;
  lag: Lag;
}

async function setUp(more: Env = {}): Promise<Stage> {
  await using cleanup = new AsyncDisposableStack();
  const database = cleanup.use(await freshDatabase());
  // The longest timeout, because receivers here hold requests for as long as the test needs.
  const env = { RINGBACK_TIMEOUT: '60s', ...more };
  const nodes = await startNodes(database.url, { a: 'api', b: 'all' }, env);
  const [a, b] = nodes.map((node) => cleanup.use(node));
  assert(a && b);
  const lag = cleanup.use(new Lag());
  const running = cleanup.move();
  return { a, b, lag, [Symbol.asyncDispose]: async () => running.disposeAsync() };
}

interface Busy extends AsyncDisposable {
  receiver: Receiver;
  subscribed: Subscribed;
  came: Came[];
}

/** Creates a receiver for which B has a long backlog of events with this name. */
async function keepBusy({ a, b }: Stage, event: string): Promise<Busy> {
  const came: Came[] = [];
  const receiver = await receive(async (request) => {
    came.push({ request, atMs: nowMs() });
    await wait(receiverMs);
    return 200;
  });
  const subscribed = await subscribe(a, { callbackUrl: receiver.url, event });
  const events = Array.from({ length: backlog }, (_, at) => ({
    event,
    payload: { message: String(at) },
  }));
  const path = '/events/batch';
  for (const node of [a, b]) {
    const answer = await node.call({ method: 'POST', path, body: { events } });
    assert.equal(answer.status, 202, answer.text);
  }
  await receiver.waitFor(20);
  return {
    receiver,
    subscribed,
    came,
    [Symbol.asyncDispose]: async () => receiver[Symbol.asyncDispose](),
  };
}

/** Makes the change and returns the time of the response, at which B must still be sending. */
async function change(
  { came }: Busy,
  act: () => Promise<{ status: number; text: string }>,
): Promise<number> {
  const cameBefore = came.length;
  const answer = await act();
  assert.ok(answer.status < 300, answer.text);
  const answeredMs = nowMs();
  assert.ok(cameBefore < 2 * backlog, 'B has not sent all of it yet');
  return answeredMs;
}

/** Callbacks that came too late. */
function late({ lag }: Stage, came: readonly Came[], answeredMs: number): Came[] {
  return came.filter(({ atMs }) => atMs - lag.at(atMs) > answeredMs + obeyMs + slackMs);
}

describe('a change made at another node', () => {
  let stage: Stage;
  let expiring = '';
  before(async () => {
    stage = await setUp();
    // It has expired when the last test checks it.
    const body = { 'x-ringback': { expiresAt: new Date(Date.now() + 10_000).toISOString() } };
    const path = '/subscribe?callbackUrl=http%3A%2F%2F127.0.0.1%3A9000%2F&event=never';
    const answer = await stage.a.call({ method: 'POST', path, body });
    assert.equal(answer.status, 201, answer.text);
    expiring = String(answer.json['subscriberId']);
  });
  after(async () => stage[Symbol.asyncDispose]());

  it('ends a subscription within a second', async () => {
    await using busy = await keepBusy(stage, 'ended');
    const path = `/unsubscribe?Id=${busy.subscribed.id}`;
    const answeredMs = await change(busy, async () => stage.a.call({ method: 'POST', path }));
    await wait(3 * obeyMs);
    assert.deepEqual(late(stage, busy.came, answeredMs), []);
    assert.ok(busy.came.length < 2 * backlog, 'the rest was cancelled');
  });

  it('pauses a subscription within a second, and resumes it', async () => {
    await using busy = await keepBusy(stage, 'paused');
    const { id } = busy.subscribed;
    const answeredMs = await change(busy, async () => patch(stage.a, id, { state: 'paused' }));
    await wait(3 * obeyMs);
    assert.deepEqual(late(stage, busy.came, answeredMs), []);
    assert.ok(busy.came.length < 2 * backlog, 'the rest is pending');
    assert.equal((await patch(stage.a, id, { state: 'active' })).status, 200);
    await busy.receiver.waitFor(2 * backlog);
    const ids = busy.came.map(({ request }) => header(request, 'ringback-delivery'));
    assert.equal(new Set(ids).size, 2 * backlog);
    assert.equal(ids.length, 2 * backlog, 'each came once');
  });

  it('sends everything to a new URL within a second', async () => {
    await using busy = await keepBusy(stage, 'moved');
    await using moved = await receive();
    const callbacks = [{ position: 0, url: moved.url }];
    const { id } = busy.subscribed;
    const answeredMs = await change(busy, async () => patch(stage.a, id, { callbacks }));
    await moved.waitFor(1);
    await wait(2 * obeyMs);
    assert.deepEqual(late(stage, busy.came, answeredMs), []);
    await moved.waitFor(2 * backlog - busy.came.length);
    assert.equal(moved.requests.length + busy.came.length, 2 * backlog);
  });

  it('signs with a new secret within a second', async () => {
    await using busy = await keepBusy(stage, 'signed');
    const { id, secret: old } = busy.subscribed;
    const path = `/subscriptions/${id}/secret/rotate`;
    let secret = '';
    const answeredMs = await change(busy, async () => {
      const body = { overlapSeconds: 0 };
      const answer = await stage.a.call({ method: 'POST', path, body });
      secret = String(answer.json['secret']);
      return answer;
    });
    await busy.receiver.waitFor(2 * backlog);
    await wait(obeyMs + 2 * slackMs);
    await publish(stage.b, 'signed'); // B may have sent everything before the change took effect.
    await busy.receiver.waitFor(2 * backlog + 1);
    const last = busy.came.slice(-1);
    const signed = [...late(stage, busy.came, answeredMs), ...last];
    for (const { request } of signed) assert.ok(verifies(request, secret), 'the new secret signs');
    for (const { request } of busy.came) {
      assert.ok(verifies(request, secret) !== verifies(request, old), 'one secret signs');
    }
  });

  it('refuses a revoked key within a second', async () => {
    const made = await stage.a.call({
      method: 'POST',
      path: '/keys',
      body: { name: 'short-lived', scopes: ['read'] },
    });
    assert.equal(made.status, 201, made.text);
    const key = String(made.json['key']);
    const ask = async (): Promise<number> =>
      (await stage.b.call({ path: '/subscriptions?limit=1', key })).status;
    assert.equal(await ask(), 200, 'B accepts and caches it');
    const path = `/keys/${String(made.json['id'])}`;
    const revoked = await stage.a.call({ method: 'DELETE', path });
    assert.equal(revoked.status, 204, revoked.text);
    const answeredMs = nowMs();
    for (;;) {
      const askedMs = nowMs();
      const status = await ask();
      if (status === 401) break;
      assert.equal(status, 200);
      // A request sent after this time must be refused, however late its response comes.
      assert.ok(
        askedMs <= answeredMs + obeyMs + slackMs,
        `B still accepted it after ${askedMs - answeredMs} ms`,
      );
    }
    assert.equal(await ask(), 401);
  });

  it('is obeyed by a node that was frozen, even for deliveries that waited for a connection', async () => {
    await using own = await setUp(fewConnections);
    const { a, b } = own;
    const open = Promise.withResolvers<200>();
    await using receiver = await receive(async () => open.promise);
    const given = { callbackUrl: receiver.url, event: 'standing' };
    const subscribed = await Promise.all(
      Array.from({ length: 20 }, async () => subscribe(a, given)),
    );
    const one = { event: 'standing', payload: { message: 'hello' } };
    const events = Array.from({ length: 10 }, () => one);
    const path = '/events/batch';
    const published = await a.call({ method: 'POST', path, body: { events } });
    assert.equal(published.status, 202, published.text);
    // More deliveries are leased, but wait for a connection.
    await receiver.waitFor(connectionsMax);
    await until(
      async () => get<Page<DeliveryView>>(a, '/deliveries?state=running&limit=500'),
      ({ items }) => items.length > connectionsMax + 10,
    );
    b.signal('SIGSTOP');
    try {
      // The frozen node may hold locks until the database ends its transaction; until then the answer is 503.
      const ended = subscribed.map(async ({ id }) =>
        until(
          async () => a.call({ method: 'POST', path: `/unsubscribe?Id=${id}` }),
          ({ status }) => status === 200,
        ),
      );
      await Promise.all(ended);
      open.resolve(200);
      await wait(obeyMs); // After this time, even a node that resumes must obey.
    } finally {
      b.signal('SIGCONT');
    }
    const { items: ours } = await until(
      async () => get<Page<DeliveryView>>(a, '/deliveries?event=standing&limit=500'),
      ({ items }) => items.every(({ state }) => state !== 'due' && state !== 'running'),
    );
    assert.equal(ours.length, 200);
    assert.equal(receiver.requests.length, connectionsMax, 'nothing came after it');
    const delivered = ours.filter(({ state }) => state === 'delivered');
    assert.equal(delivered.length, connectionsMax, 'all others are cancelled');
  });

  it('of an expiry made at an API node is carried out by another node', async () => {
    const path = `/subscriptions/${expiring}`;
    const ended = await until(
      async () => get<{ state: string; endedAt?: string; expiresAt: string }>(stage.a, path),
      ({ state }) => state === 'ended',
    );
    assert.ok((ended.endedAt ?? '') >= ended.expiresAt, 'by the clock of the database');
  });

  it('is recognised when a subscribe is repeated at another node', async () => {
    await using receiver = await receive();
    const query = new URLSearchParams({ callbackUrl: receiver.url, event: 'order.created' });
    const call = {
      method: 'POST',
      path: `/subscribe?${query.toString()}`,
      headers: { 'idempotency-key': 'once' },
    };
    const [one, other] = [await stage.a.call(call), await stage.b.call(call)];
    assert.equal(one.status, 201, one.text);
    assert.deepEqual(other.json, one.json);
  });
});

function verifies({ body, headers }: Received, secret: string): boolean {
  try {
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': by } = headers;
    new Webhook(secret).verify(body, {
      'webhook-id': String(id),
      'webhook-timestamp': String(at),
      'webhook-signature': String(by),
    });
    return true;
  } catch {
    return false;
  }
}
