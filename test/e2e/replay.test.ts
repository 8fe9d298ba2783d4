// Replays by real processes, one of which ends in the middle: each delivery must be sent again exactly once, with its own
// webhook-id.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { sendTo, type Running } from '../api/harness.ts';
import { newFolder, serve, type Serving } from '../cli/ringback-process.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startNodes } from './cluster.ts';
import { header, receive, type Received, type Receiver } from './receiver.ts';
import { get, publish, subscribe, until, type DeliveryView, type Page } from './stage.ts';

interface ReplayView {
  id: string;
  state: string;
  matched: number;
  replayed: number;
  skipped: number;
  progress: number;
}

const key = 'k'.repeat(40);
/** Two attempts per delivery, so that a few dead ones do not open a circuit breaker. */
const env = { RINGBACK_RETRY: '1ms', RINGBACK_LOG: 'warn' };
const events = { bad: 2, good: 2 } as const;

describe('a replay', { concurrency: true }, () => {
  it('continues after kill -9: each of 300 deliveries is sent again once', async () => {
    await using folder = await newFolder();
    await using cleanup = new AsyncDisposableStack();
    await using receiver = await receive(firstAnswer);
    const start = async (): Promise<Serving & Running> => {
      const data = { RINGBACK_DATA: folder.path, RINGBACK_API_KEY: key, ...env };
      const child = cleanup.use(await serve(data));
      const call: Running['call'] = async (one) => sendTo(child.url, key, one);
      return { ...child, key, call, logged: () => child.err() };
    };
    const first = await start();
    const before = await endDeliveries(first, receiver, 75);
    const { id } = await replayEverything(first, 150);
    await receiver.waitFor(before + 80);
    first.signal('SIGKILL');
    await first.ended;
    const second = await start();
    const inFlight = await check(second, receiver, { id, before, deliveries: 300 });
    assert.ok(inFlight <= limits.windowMax, `${inFlight} came twice`);
  });

  it('continues at another node when its node stops', async () => {
    await using database = await freshDatabase();
    await using cleanup = new AsyncDisposableStack();
    await using receiver = await receive(firstAnswer);
    const nodes = await startNodes(database.url, { one: 'all', other: 'all' }, env);
    const [one, other] = nodes.map((node) => cleanup.use(node));
    assert(one && other);
    const before = await endDeliveries(one, receiver, 20);
    const { id } = await replayEverything(one, 25);
    await receiver.waitFor(before + 20);
    one.signal('SIGTERM');
    await one.ended;
    const twice = await check(other, receiver, { id, before, deliveries: 80 });
    assert.equal(twice, 0);
  });
});

/** Rejects events named `bad`. */
function firstAnswer(request: Received): number {
  return header(request, 'ringback-event') === 'bad' ? 500 : 200;
}

/** Lets half of the deliveries end dead and half delivered, then accepts everything. Returns the number of callbacks. */
async function endDeliveries(
  service: Running,
  receiver: Receiver,
  subscriptions: number,
): Promise<number> {
  for (let i = 0; i < subscriptions; i += 1) await subscribe(service, `${receiver.url}/${i}`);
  for (const [name, count] of Object.entries(events)) {
    for (let i = 0; i < count; i += 1) await publish(service, name);
  }
  await receiver.answered(subscriptions * (2 * events.bad + events.good));
  await ended(service);
  receiver.script = () => 200;
  return receiver.requests.length;
}

async function replayEverything(service: Running, ratePerSecond: number): Promise<ReplayView> {
  const body = { filter: { state: 'ended' }, ratePerSecond };
  const answer = await service.call({ method: 'POST', path: '/replays', body });
  assert.equal(answer.status, 201, answer.text);
  return answer.json as unknown as ReplayView;
}

interface Expected {
  id: string;
  /** Number of callbacks before the replay. */
  before: number;
  deliveries: number;
}

/** Returns the number of duplicates, whose outcome was lost. */
async function check(
  service: Running,
  receiver: Receiver,
  { id, before, deliveries }: Expected,
): Promise<number> {
  await receiver.waitFor(before + deliveries);
  const replay = await until(
    async () => get<ReplayView>(service, `/replays/${id}`),
    ({ state }) => state !== 'running',
  );
  const { state, matched, replayed, skipped, progress } = replay;
  assert.deepEqual(
    { state, matched, replayed, skipped, progress },
    { state: 'done', matched: deliveries, replayed: deliveries, skipped: 0, progress: 1 },
  );
  const all = await ended(service);
  // A dead delivery was revived; a delivered one has exactly one successor.
  const byEvent = Map.groupBy(all, ({ event, eventId, subscriberId }) =>
    [event, eventId, subscriberId].join(),
  );
  const counts = Array.from(byEvent, ([name, found]) => [name.split(',')[0], found.length]);
  assert.equal(counts.length, deliveries);
  assert.deepEqual(new Set(counts.map(String)), new Set(['bad,1', 'good,2']));

  const again = receiver.requests.slice(before);
  const accepted = new Set(again.map((one) => header(one, 'ringback-delivery')));
  assert.equal(accepted.size, deliveries, 'each of them was sent again');
  for (const one of again) {
    const [, event] = header(one, 'ringback-delivery').split('_');
    assert.equal(header(one, 'webhook-id'), `evt_${event}`);
  }
  return again.length - accepted.size;
}

/** Waits until no delivery is pending or in flight, and returns all of them. */
async function ended(service: Running): Promise<DeliveryView[]> {
  const pending = async (): Promise<number> => {
    // A delivery may return from running to due between two lists, so list the first state again.
    let count = 0;
    for (const state of ['due', 'running', 'due']) {
      const page = await get<Page<DeliveryView>>(service, `/deliveries?state=${state}`);
      count += page.items.length;
    }
    return count;
  };
  await until(pending, (count) => count === 0);
  return (await get<Page<DeliveryView>>(service, '/deliveries?limit=500')).items;
}
