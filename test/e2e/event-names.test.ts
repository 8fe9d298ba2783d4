// Any text can be the name of an event: subscribed to, published, delivered and searched for on both
// databases, over real sockets.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start, type Running } from '../api/harness.ts';
import { freshDatabase } from '../postgres/database.ts';
import { startNodes } from './cluster.ts';
import { receive, type Received } from './receiver.ts';
import { publish, subscribe } from './stage.ts';

const names = [
  'order created',
  '50% off',
  '%20',
  'a..b',
  '.',
  '*',
  'order.*',
  String.raw`order.\*`,
  "'; drop table event; --",
  'line\r\nbreak: x',
  'é ü 😀',
  '~',
  '{$request.query.event}',
  'e'.repeat(256),
  '語'.repeat(256),
];

const databases = {
  SQLite: async (): Promise<Stage> => ({ service: await start(), database: undefined }),
  PostgreSQL: async (): Promise<Stage> => {
    const database = await freshDatabase();
    const [service] = await startNodes(database.url, { only: 'all' });
    assert(service);
    return { service, database };
  },
};

interface Stage {
  service: Running & AsyncDisposable;
  database: Awaited<ReturnType<typeof freshDatabase>> | undefined;
}

for (const [kind, open] of Object.entries(databases)) {
  describe(`the name of an event on ${kind}`, () => {
    it('may be any text of 1 to 256 characters', async () => {
      const stage = await open();
      await using _database = stage.database;
      await using service = stage.service;
      await using receiver = await receive();
      for (const event of names) {
        const { id } = await subscribe(service, { callbackUrl: receiver.url, event });
        assert.deepEqual(await itemsOf(service, '/subscriptions', event), [id]);
      }
      for (const event of names) {
        const { deliveries } = await publish(service, event);
        assert.equal(deliveries, 1, event);
      }
      const requests = await receiver.waitFor(names.length);
      assert.deepEqual(requests.map(inUrl).toSorted(), names.toSorted());
      assert.deepEqual(requests.map(inHeader).toSorted(), names.toSorted());
      for (const event of names.filter((name) => name !== '*' && name !== 'order.*')) {
        assert.equal((await itemsOf(service, '/events', event)).length, 1, event);
      }
    });

    it('matches a prefix of it, whatever follows', async () => {
      const stage = await open();
      await using _database = stage.database;
      await using service = stage.service;
      await using receiver = await receive();
      const body = {
        callbackUrl: receiver.url,
        'x-ringback': { events: ['my order.*', String.raw`all.\*`] },
      };
      const { id } = await subscribe(service, { body });
      assert.deepEqual(await patternsOf(service, id), body['x-ringback'].events);
      const counts = [];
      for (const event of ['my order.a b', 'my order.😀.%', 'my order', 'all.*', 'all.a']) {
        counts.push((await publish(service, event)).deliveries);
      }
      assert.deepEqual(counts, [1, 1, 0, 1, 0]);
      const requests = await receiver.waitFor(3);
      assert.deepEqual(requests.map(inHeader).toSorted(), [
        'all.*',
        'my order.a b',
        'my order.😀.%',
      ]);
      assert.equal((await itemsOf(service, '/events', 'my order.*')).length, 2);
      assert.equal((await itemsOf(service, '/events', String.raw`all.\*`)).length, 1);
    });
  });
}

function inUrl({ url }: Received): string {
  return new URL(url, 'http://receiver').searchParams.get('event') ?? '';
}

function inHeader({ headers }: Received): string {
  return decodeURIComponent(String(headers['ringback-event']));
}

async function patternsOf(service: Running, id: string): Promise<unknown> {
  const { json } = await service.call({ path: `/subscriptions/${id}` });
  assert(Array.isArray(json['callbacks']));
  return json['callbacks'][0].events;
}

async function itemsOf(service: Running, path: string, event: string): Promise<unknown[]> {
  const query = new URLSearchParams({ event }).toString();
  const { json, text, status } = await service.call({ path: `${path}?${query}` });
  assert.equal(status, 200, text);
  assert(Array.isArray(json['items']));
  return json['items'].map((one: { id: unknown }) => one.id);
}
