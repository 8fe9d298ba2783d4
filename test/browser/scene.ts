// An hour of a shop on the real service: callbacks that succeed, fail, hang and are refused, with statistics,
// pending retries, dead deliveries, replays and keys. For screenshots and layout tests.
import assert from 'node:assert/strict';
import { movableWorld, type MovableWorld } from '../e2e/movable-world.ts';
import { receive, type Reply, type Received } from '../e2e/receiver.ts';
import { get, inState, patch, subscribe, until, type DeliveryView } from '../e2e/stage.ts';
import type { Page as ListPage } from '../e2e/stage.ts';
import { makeCertificate } from '../egress/certificate.ts';
import { openStage, type Stage } from './stage.ts';

export interface Scene extends AsyncDisposable {
  stage: Stage;
  /** Plays the hour; before that, the service is empty. */
  play: () => Promise<Shown>;
  /** Starts a replay that runs for some minutes; returns its id. */
  replay: () => Promise<string>;
}

/** Ids of records to open. */
export interface Shown {
  deadId: string;
  deliveredId: string;
  retryingId: string;
  failingSubscriberId: string;
  eventId: string;
  replayId: string;
  keyId: string;
}

/** Before the hour is played. */
export const nothingShown: Shown = {
  deadId: '',
  deliveredId: '',
  retryingId: '',
  failingSubscriberId: '',
  eventId: '',
  replayId: '',
  keyId: '',
};

const minutes = 62;
const minuteMs = 60_000;
const hosts = ['shop', 'billing', 'search', 'crm', 'audit', 'legacy'];

export async function openScene(): Promise<Scene> {
  await using opened = new AsyncDisposableStack();
  const world = movableWorld();
  // It begins in the past and ends now, so that the browser's clock agrees with the service's.
  world.moveOn(-minutes * minuteMs);
  const stage = opened.use(
    await openStage({
      world,
      names: Object.fromEntries(hosts.map((host) => [nameOf(host), ['127.0.0.1']])),
      env: { RINGBACK_RETRY: '20s,8m', RINGBACK_TIMEOUT: '800ms' },
    }),
  );
  const expired = opened.use(
    await receive(() => 200, makeCertificate(nameOf('crm'), { until: '20261001' })),
  );
  // Nothing listens on this port any more.
  const { port: closedPort, ...closed } = await receive();
  await closed[Symbol.asyncDispose]();
  const kept = opened.move();
  return {
    stage,
    play: async () => playHour({ stage, world, securePort: expired.port, closedPort }),
    replay: async () => longReplay(stage),
    [Symbol.asyncDispose]: async () => kept.disposeAsync(),
  };
}

function nameOf(host: string): string {
  return `${host}.nordwind.example`;
}

type Set = { stage: Stage; world: MovableWorld; securePort: number; closedPort: number };

async function playHour({ stage, world, securePort, closedPort }: Set): Promise<Shown> {
  const { service, receiver } = stage;
  let minute = 0;
  receiver.script = async (request) => answerOf(request, minute);
  const keyId = await makeKeys(stage);
  const at = (host: string, path: string): string =>
    `http://${nameOf(host)}:${receiver.port}${path}`;
  await subscribe(service, at('shop', '/callbacks/orders'));
  await subscribe(service, { callbackUrl: at('billing', '/invoices'), event: 'invoice.paid' });
  const failing = await subscribe(service, {
    callbackUrl: at('search', '/reindex'),
    event: 'product.updated',
  });
  await subscribe(service, {
    callbackUrl: `https://${nameOf('crm')}:${securePort}/contacts`,
    event: 'customer.created',
  });
  await subscribe(service, {
    body: {
      inProgressUrl: at('audit', '/exports/running'),
      failedUrl: at('audit', '/exports/failed'),
      successUrl: at('audit', '/exports/done'),
      'x-ringback': { customer: exporting },
    },
  });
  await subscribe(service, {
    callbackUrl: `http://${nameOf('legacy')}:${closedPort}/soap-bridge`,
    event: 'order.cancelled',
  });
  const chosen = {
    description: 'Search index of the shop, rebuilt at night',
    filter: { '/message': ['product updated', 'ping'] },
    concurrency: 2,
    timeout: '5s',
    headers: { Authorization: 'Bearer nordwind-search' },
    metadata: { team: 'search', contact: 'search@nordwind.example' },
  };
  assert.equal((await patch(service, failing.id, chosen)).status, 200);
  const paused = await subscribe(service, {
    callbackUrl: at('audit', '/everything'),
    event: 'order.shipped',
  });
  assert.equal((await patch(service, paused.id, { state: 'paused' })).status, 200);
  for (; minute < minutes; minute += 1) {
    await publishMinute(stage, minute);
    world.moveOn(minuteMs);
  }
  await publishMinute(stage, minute);
  return { ...(await findShown(stage, failing.id)), keyId };
}

/** Most receivers work, one fails for a while, one always hangs. */
async function answerOf({ url, order, body }: Received, minute: number): Promise<Reply> {
  if (url.startsWith('/reindex')) {
    return order % 3 === 0
      ? {
          status: 503,
          headers: { ...plainText, 'retry-after': '120' },
          body: 'Index is rebuilding\n',
        }
      : { status: 500, headers: json, body: '{"error":"index_locked","shard":3,"retryable":true}' };
  }
  if (url.startsWith('/invoices') && minute > 24 && minute < 36 && order % 3 !== 0) {
    return { status: 502, headers: plainText, body: 'Bad gateway' };
  }
  if (url.startsWith('/exports/failed')) return new Promise(() => {}); // Hangs until the timeout.
  const orderId = Number(/"orderId":(\d+)/.exec(body.toString())?.[1] ?? 1);
  // These always fail, so that there are dead deliveries.
  if (url.startsWith('/callbacks') && orderId % 97 === 0) {
    return { status: 422, headers: json, body: '{"error":"unknown_sku","sku":"NW-4711","line":2}' };
  }
  return { status: 200, headers: json, body: '{"received":true}' };
}

const json = { 'content-type': 'application/json', server: 'nginx/1.29' };
const plainText = { 'content-type': 'text/plain', server: 'nginx/1.29' };

async function publishMinute({ service }: Stage, minute: number): Promise<void> {
  const body = { events: eventsOf(minute) };
  const answer = await service.call({ method: 'POST', path: '/events/batch', body });
  assert.equal(answer.status, 202, answer.text);
  // Failing deliveries take longer, so the test waits only for the working receiver.
  const isLeft = ({ attemptCount, callback }: DeliveryView): boolean =>
    attemptCount === 0 && callback.url.includes('/callbacks/');
  await until(
    async () => {
      const page = await get<ListPage<DeliveryView>>(service, '/deliveries?state=due&limit=500');
      return page.items.filter(isLeft).length;
    },
    (left) => left === 0,
  );
}

interface SceneEvent {
  event: string;
  subject?: string;
  customer?: string;
  payload: object;
}

/** A customer whose exports call back. */
const exporting = 'cus_nordwind_audit';

/** A wave of events, with some rare ones. */
function eventsOf(minute: number): SceneEvent[] {
  const count = Math.round(5 + 4 * Math.sin(minute / 9) + (minute % 4));
  const events = Array.from({ length: count }, (_, at) => orderEvent(minute * 10 + at));
  if (minute % 5 === 0) events.push(eventOf('product.updated', { sku: `NW-${4000 + minute}` }));
  if (minute % 7 === 3) events.push(eventOf('customer.created', { customerId: 8_100 + minute }));
  if (minute % 11 === 5) events.push(eventOf('order.cancelled', { orderId: 10_400 + minute }));
  if (minute % 16 === 8) events.push(exportEvent('success', minute));
  if (minute === 61) events.push(exportEvent('failed', minute));
  return events;
}

function orderEvent(number: number): SceneEvent {
  const names = ['order.created', 'order.paid', 'invoice.paid', 'order.created', 'order.shipped'];
  const orderId = 10_000 + number;
  const total = `${19 + (number % 83)}.90`;
  return eventOf(names[number % names.length] ?? '', { orderId, total, currency: 'EUR' });
}

/** About the export, which is its subject, and to the customer who asked for it. */
function exportEvent(name: string, minute: number): SceneEvent {
  const exportId = `exp_${minute}`;
  return { ...eventOf(name, { exportId }), subject: exportId, customer: exporting };
}

function eventOf(event: string, more: object): SceneEvent {
  return { event, payload: { message: event.replace('.', ' '), ...more } };
}

/** Creates keys; returns the id of one that was used. */
async function makeKeys({ service }: Stage): Promise<string> {
  let usedId = '';
  const keys = [
    { name: 'Shop backend', scopes: ['publish'] },
    { name: 'Grafana', scopes: ['read'], expiresAt: '2027-06-30T00:00:00Z' },
    { name: 'Deploy pipeline', scopes: ['subscribe', 'read'] },
    { name: 'Former contractor', scopes: ['read', 'admin'] },
  ];
  for (const body of keys) {
    const { status, json: made } = await service.call({ method: 'POST', path: '/keys', body });
    assert.equal(status, 201);
    const id = String(made['id']);
    if (body.name === 'Grafana') {
      await service.call({ path: '/stats?range=1h', key: String(made['key']) });
      usedId = id;
    }
    if (body.name.startsWith('Former')) {
      await service.call({ method: 'DELETE', path: `/keys/${id}` });
    }
  }
  return usedId;
}

async function findShown(stage: Stage, failingSubscriberId: string): Promise<Omit<Shown, 'keyId'>> {
  const { service } = stage;
  const find = async (query: string): Promise<DeliveryView> => {
    const read = async (): Promise<ListPage<DeliveryView>> => get(service, `/deliveries?${query}`);
    const isTried = ({ attemptCount }: DeliveryView): boolean => attemptCount > 0;
    const { items } = await until(read, (page) => page.items.some(isTried));
    const first = items.find(isTried);
    assert(first);
    return first;
  };
  const dead = await find('state=dead&event=order.*&status=422');
  const retrying = await find('state=retrying&event=failed');
  const delivered = await find('state=delivered&event=invoice.paid');
  await inState(service, dead.id, 'dead');
  return {
    deadId: dead.id,
    deliveredId: delivered.id,
    retryingId: retrying.id,
    failingSubscriberId,
    eventId: delivered.eventId,
    replayId: await makeReplays(stage),
  };
}

/** One finished replay, one cancelled, and one that runs for some minutes. */
async function makeReplays(stage: Stage): Promise<string> {
  const { service } = stage;
  const done = await makeReplay(stage, { state: 'dead', event: 'order.cancelled' }, 100);
  await until(
    async () => service.call({ path: `/replays/${done}` }),
    (answer) => answer.json['state'] === 'done',
  );
  const cancelled = await makeReplay(stage, { state: 'delivered', event: 'invoice.*' }, 1);
  await service.call({ method: 'POST', path: `/replays/${cancelled}/cancel` });
  return longReplay(stage);
}

async function longReplay(stage: Stage): Promise<string> {
  return makeReplay(stage, { state: 'delivered', event: 'order.*' }, 1);
}

async function makeReplay(
  { service }: Stage,
  filter: object,
  ratePerSecond: number,
): Promise<string> {
  const body = { filter, ratePerSecond };
  const answer = await service.call({ method: 'POST', path: '/replays', body });
  assert.equal(answer.status, 201, answer.text);
  return String(answer.json['id']);
}
