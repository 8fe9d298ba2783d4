// Lists of events and deliveries: filters, pagination, and isolation of apps.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { start, type Running } from '../api/harness.ts';
import { receive, type Receiver } from './receiver.ts';
import {
  attempted,
  deliveryOf,
  get,
  inState,
  onlyDelivery,
  patch,
  publish,
  quiet,
  subscribe,
  until,
  type DeliveryView,
  type Page,
} from './stage.ts';

interface EventView {
  id: string;
  event: string;
  deliveries: number | null;
  createdAt: string;
  payload?: unknown;
}

const unknownEvent = 'evt_01jc4t6v8m3q5r7w9x1y2z3a4b';
const unknownDelivery = 'dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0';

/** Follows the cursors to the end. `between` runs after each page. */
async function walk<T>(
  service: Running,
  path: string,
  between: (pages: number) => Promise<void> = async () => undefined,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | null = '';
  for (let pages = 1; cursor !== null; pages += 1) {
    assert.ok(pages <= 100, 'the pagination does not end');
    const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await get<Page<T>>(service, path + more);
    all.push(...page.items);
    cursor = page.nextCursor;
    await between(pages);
  }
  return all;
}

function idsOf(items: readonly { id: string }[]): string[] {
  return items.map(({ id }) => id);
}

/** A key of another app. */
async function foreignKey(service: Running): Promise<string> {
  const answer = await service.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
  assert.equal(answer.status, 201, answer.text);
  return String(answer.json['key']);
}

describe('GET /events', () => {
  let service: Running;
  const published: string[] = [];
  before(async () => {
    service = await start();
    for (let index = 0; index < 25; index += 1) {
      const name = index % 5 === 0 ? 'rare.event' : 'common';
      published.push((await publish(service, name)).eventId);
    }
  });
  after(async () => service[Symbol.asyncDispose]());

  it('lists events, newest first', async () => {
    const { items, nextCursor } = await get<Page<EventView>>(service, '/events');
    assert.deepEqual(idsOf(items), published.toReversed());
    assert.equal(nextCursor, null);
    const [newest] = items;
    const { createdAt, ...rest } = newest ?? { createdAt: '' };
    assert.deepEqual(rest, { id: published.at(-1), event: 'common', deliveries: 0 });
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('lists events of a name', async () => {
    const rare = published.filter((_, index) => index % 5 === 0).toReversed();
    assert.deepEqual(idsOf(await walk(service, '/events?event=rare.event')), rare);
    assert.deepEqual(idsOf(await walk(service, '/events?event=rare.event&limit=2')), rare);
    assert.deepEqual(await walk(service, '/events?event=rare'), []);
  });

  for (const limit of [1, 2, 7, 24, 25, 26, 500]) {
    it(`has no gaps and no duplicates in pages of ${limit}`, async () => {
      const all = await walk<EventView>(service, `/events?limit=${limit}`);
      assert.deepEqual(idsOf(all), published.toReversed());
    });
  }

  it('refuses invalid limits and cursors', async () => {
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'cursor=nonsense', 'cursor=']) {
      const { status, json } = await service.call({ path: `/events?${query}` });
      assert.deepEqual([status, json['code']], [400, 'invalid_request'], query);
    }
  });

  it('shows another app nothing', async () => {
    const key = await foreignKey(service);
    const list = await service.call({ path: '/events', key });
    assert.deepEqual([list.status, list.json['items']], [200, []]);
    const [id] = published;
    const theirs = await service.call({ path: `/events/${id}`, key });
    const unknown = await service.call({ path: `/events/${unknownEvent}`, key });
    assert.deepEqual([theirs.status, theirs.json['code']], [404, 'not_found']);
    assert.equal(
      String(theirs.json['detail']).replace(id ?? '', ''),
      String(unknown.json['detail']).replace(unknownEvent, ''),
    );
  });
});

describe('GET /events while new ones arrive', () => {
  it('continues where the previous page ended', async () => {
    await using service = await start();
    const old: string[] = [];
    for (let index = 0; index < 12; index += 1) old.push((await publish(service, 'a')).eventId);
    const seen = await walk<EventView>(service, '/events?limit=3', async () => {
      await publish(service, 'a');
      await publish(service, 'a');
    });
    assert.deepEqual(idsOf(seen), old.toReversed());
  });
});

describe('GET /events/{id}', () => {
  it('shows the event with its payload', async () => {
    await using service = await start();
    const payload = '{"message":"é","list":[1,{"a":null}]}';
    const { eventId } = await publish(service, 'order.created', { payload });
    const { createdAt, ...shown } = await get<EventView>(service, `/events/${eventId}`);
    assert.deepEqual(shown, {
      id: eventId,
      event: 'order.created',
      deliveries: 0,
      payload: JSON.parse(payload) as unknown,
    });
    assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000);
  });

  it('knows no other ids', async () => {
    await using service = await start();
    const { eventId } = await publish(service, 'a');
    const bare = eventId.slice(4);
    for (const id of [unknownEvent, 'evt_', 'x', bare, `dlv_${bare}`, eventId.toUpperCase()]) {
      const { status, json } = await service.call({ path: `/events/${id}` });
      assert.deepEqual([status, json['code']], [404, 'not_found'], id);
    }
  });
});

describe('GET /deliveries', () => {
  let service: Running;
  let receiver: Receiver;
  const subscriptions = { good: '', bad: '', paused: '', ended: '' };
  const byState: Record<string, string[]> = {};

  // One subscription for each outcome, and a receiver that keeps one delivery running.
  before(async () => {
    service = await start({ env: { RINGBACK_RETRY: '10ms' } });
    const never = Promise.withResolvers<number>();
    receiver = await receive(async ({ url }) => {
      if (url.startsWith('/hook/bad')) return 500;
      return url.startsWith('/hook/slow') ? never.promise : 200;
    });
    const to = async (path: string): Promise<string> =>
      (await subscribe(service, receiver.url + path)).id;
    subscriptions.good = await to('/good');
    subscriptions.bad = await to('/bad');
    subscriptions.paused = await to('/paused');
    subscriptions.ended = await to('/ended');
    for (const id of [subscriptions.paused, subscriptions.ended]) {
      await patch(service, id, { state: 'paused' });
    }
    for (const name of ['one', 'two', 'three']) await publish(service, name);
    await service.call({ method: 'DELETE', path: `/subscriptions/${subscriptions.ended}` });
    const slow = await to('/slow');
    await publish(service, 'four', { subscriberId: slow });
    await receiver.waitFor(3 + 2 * 3 + 1);
    const { items } = await until(
      async () => get<Page<DeliveryView>>(service, '/deliveries'),
      (page) => countStates(page.items) === '3 cancelled, 3 dead, 3 delivered, 3 due, 1 running',
    );
    for (const { id, state } of items) (byState[state] ??= []).push(id);
  });
  after(async () => {
    await receiver[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  });

  function countStates(items: readonly DeliveryView[]): string {
    const groups = Map.groupBy(items, ({ state }) => state);
    const sorted = [...groups.keys()].toSorted();
    return sorted.map((state) => `${groups.get(state)?.length} ${state}`).join(', ');
  }

  it('lists all deliveries, newest first', async () => {
    const items = await walk<DeliveryView>(service, '/deliveries');
    assert.equal(items.length, 13);
    const events = items.map(({ event }) => event);
    const fourOf = (name: string): string[] => Array<string>(4).fill(name);
    assert.deepEqual(events, ['four', ...fourOf('three'), ...fourOf('two'), ...fourOf('one')]);
  });

  it('shows the same as GET /deliveries/{id}, without the attempts', async () => {
    for (const item of await walk<DeliveryView>(service, '/deliveries')) {
      const { attempts, ...shown } = await deliveryOf(service, item.id);
      assert.deepEqual(shown, item);
      assert.equal(attempts.length, item.attemptCount);
    }
  });

  for (const state of ['due', 'running', 'delivered', 'dead', 'cancelled']) {
    it(`filters by state ${state}`, async () => {
      for (const limit of [1, 2, 50]) {
        const items = await walk<DeliveryView>(
          service,
          `/deliveries?state=${state}&limit=${limit}`,
        );
        assert.deepEqual(idsOf(items), byState[state], `limit ${limit}`);
      }
    });
  }

  it('filters by event name', async () => {
    const items = await walk<DeliveryView>(service, '/deliveries?event=two&limit=3');
    assert.deepEqual(
      items.map(({ event }) => event),
      Array(4).fill('two'),
    );
    assert.deepEqual(await walk(service, '/deliveries?event=five'), []);
  });

  it('filters by event id', async () => {
    const [event] = (await get<Page<EventView>>(service, '/events?event=one')).items;
    const items = await walk<DeliveryView>(service, `/deliveries?eventId=${event?.id}&limit=3`);
    assert.equal(items.length, event?.deliveries);
    assert.deepEqual(
      items.map(({ subscriberId }) => subscriberId).toSorted(),
      Object.values(subscriptions).toSorted(),
    );
  });

  it('filters by subscription, even one that has ended', async () => {
    for (const id of Object.values(subscriptions)) {
      const items = await walk<DeliveryView>(service, `/deliveries?subscriberId=${id}&limit=2`);
      assert.deepEqual(
        items.map(({ event, subscriberId }) => [event, subscriberId]),
        ['three', 'two', 'one'].map((name) => [name, id]),
      );
    }
  });

  it('combines filters', async () => {
    const { good, bad } = subscriptions;
    const count = async (query: string): Promise<number> =>
      (await walk(service, `/deliveries?${query}&limit=1`)).length;
    assert.equal(await count(`subscriberId=${good}&state=delivered`), 3);
    assert.equal(await count(`subscriberId=${good}&state=dead`), 0);
    assert.equal(await count(`subscriberId=${bad}&state=dead&event=two`), 1);
    assert.equal(await count(`subscriberId=${bad}&state=due&event=two`), 0);
    assert.equal(await count('state=cancelled&event=three'), 1);
    const [event] = (await get<Page<EventView>>(service, '/events?event=one')).items;
    assert.equal(await count(`eventId=${event?.id}&state=due`), 1);
    assert.equal(await count(`eventId=${event?.id}&subscriberId=${good}`), 1);
    assert.equal(await count(`eventId=${event?.id}&event=two`), 0);
  });

  it('lists nothing for unknown ids, and refuses malformed ones', async () => {
    for (const query of [
      `eventId=${unknownEvent}`,
      'subscriberId=sub_01jc4t6v8m3q5r7w9x1y2z3a4b',
    ]) {
      assert.deepEqual(await walk(service, `/deliveries?${query}`), []);
    }
    for (const query of [
      'eventId=x',
      `eventId=${subscriptions.good}`,
      `subscriberId=${unknownEvent}`,
      'state=lost',
      'limit=0',
      'cursor=x',
    ]) {
      const { status, json } = await service.call({ path: `/deliveries?${query}` });
      assert.deepEqual([status, json['code']], [400, 'invalid_request'], query);
    }
  });

  it('shows another app nothing, whatever the filter', async () => {
    const key = await foreignKey(service);
    const [delivery] = byState['dead'] ?? [];
    const [event] = (await get<Page<EventView>>(service, '/events?event=one')).items;
    for (const query of [
      'limit=50',
      'state=due',
      'state=running',
      'state=dead',
      'state=delivered',
      'event=one',
      `eventId=${event?.id}`,
      `subscriberId=${subscriptions.good}`,
    ]) {
      const list = await service.call({ path: `/deliveries?${query}`, key });
      assert.deepEqual([list.status, list.json['items'], list.json['nextCursor']], [200, [], null]);
    }
    for (const id of [delivery ?? '', unknownDelivery]) {
      const shown = await service.call({ path: `/deliveries/${id}`, key });
      assert.deepEqual([shown.status, shown.json['code']], [404, 'not_found']);
      const again = await service.call({ method: 'POST', path: `/deliveries/${id}/retry`, key });
      assert.deepEqual([again.status, again.json['code']], [404, 'not_found']);
    }
    assert.equal((await deliveryOf(service, delivery ?? '')).state, 'dead');
  });
});

describe('GET /deliveries in pages', () => {
  for (const query of ['', 'subscriberId', 'event=a', 'state=delivered', 'state=due']) {
    it(`has no gaps and no duplicates while new deliveries arrive (${query || 'all'})`, async () => {
      await using service = await start();
      await using receiver = await receive();
      const { id } = await subscribe(service, receiver.url);
      await subscribe(service, receiver.url);
      await subscribe(service, receiver.url);
      if (query === 'state=due') {
        for (const one of idsOf(
          (await get<Page<{ id: string }>>(service, '/subscriptions')).items,
        )) {
          await patch(service, one, { state: 'paused' });
        }
      }
      const filter = query === 'subscriberId' ? `subscriberId=${id}` : query;
      for (let index = 0; index < 10; index += 1) await publish(service, 'a');
      if (query !== 'state=due') await quiet(service);
      const there = await walk<DeliveryView>(service, `/deliveries?${filter}&limit=500`);
      assert.equal(there.length, query === 'subscriberId' ? 10 : 30);
      const names = idsOf(there);
      assert.deepEqual(names, newestFirst(names));
      for (const limit of [1, 4, 7]) {
        const seen = await walk<DeliveryView>(
          service,
          `/deliveries?${filter}&limit=${limit}`,
          async (pages) => {
            if (pages <= 3) await publish(service, 'a');
          },
        );
        // Existing deliveries appear once and in order; newer ones come before them.
        assert.deepEqual(
          idsOf(seen).filter((one) => names.includes(one)),
          names,
        );
        assert.equal(new Set(idsOf(seen)).size, seen.length);
      }
    });
  }

  function newestFirst(ids: readonly string[]): string[] {
    const parts = ids.map((id) => ({ id, event: id.slice(4, 30), n: Number(id.slice(31)) }));
    parts.sort((a, b) => (a.event === b.event ? b.n - a.n : a.event < b.event ? 1 : -1));
    return parts.map(({ id }) => id);
  }
});

describe('GET /deliveries/{id}', () => {
  it('knows no other ids', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    const { eventId } = await publish(service, 'a');
    const id = await onlyDelivery(service, { eventId });
    await inState(service, id, 'delivered');
    const wrong = [unknownDelivery, eventId, `${id}9`, id.slice(0, -2), `${id}_1`, 'dlv_', 'x'];
    for (const one of wrong) {
      for (const call of [
        { path: `/deliveries/${one}` },
        { method: 'POST', path: `/deliveries/${one}/retry` },
      ]) {
        const { status, json } = await service.call(call);
        assert.deepEqual([status, json['code']], [404, 'not_found'], one);
      }
    }
  });

  it('lists the retry of a successful delivery separately', async () => {
    await using service = await start();
    await using receiver = await receive();
    await subscribe(service, receiver.url);
    const { eventId } = await publish(service, 'a');
    const id = await onlyDelivery(service, { eventId });
    await attempted(service, id);
    await service.call({ method: 'POST', path: `/deliveries/${id}/retry` });
    const items = await walk<DeliveryView>(service, `/deliveries?eventId=${eventId}`);
    assert.deepEqual(
      items.map((one) => one.id),
      [id.replace(/_0$/, '_1'), id],
    );
  });
});

describe('GET /event-types', () => {
  it('lists every callback of the contract with its event, schema and an example', async () => {
    await using service = await start();
    interface TypeView {
      event: string;
      callback: string;
      contract: string;
      mediaType: string;
      schema: object;
      example: { message: string };
    }
    const { items } = await get<{ items: TypeView[] }>(service, '/event-types');
    assert.deepEqual(
      items.map(({ event, callback, example }) => [event, callback, example.message]),
      [
        ['*', 'myEvent', 'Something happened'],
        ['{$request.query.event}', 'myEvent', 'Something happened'],
        ['inProgress', 'inProgress', 'It is in progress'],
        ['failed', 'inProgress', 'It failed'],
        ['success', 'inProgress', 'It succeeded'],
      ],
    );
    for (const { contract, mediaType, schema } of items) {
      assert.deepEqual([contract, mediaType], ['Ringback', 'application/json']);
      // Self-contained, so that any JSON Schema validator can use it.
      const validate = new Ajv2020({ strict: false }).compile(schema);
      assert.equal(validate({ message: 'x', more: 1 }), true);
      for (const wrong of [{}, { message: 1 }, [], 'x']) assert.equal(validate(wrong), false);
    }
  });

  it('has valid examples', async () => {
    await using service = await start();
    const { items } = await get<{ items: { event: string; example: unknown }[] }>(
      service,
      '/event-types',
    );
    assert.ok(items.length > 0);
    for (const { event, example } of items) {
      assert.ok(example !== undefined);
      const name = /^[a-zA-Z]+$/.test(event) ? event : 'any.name';
      await publish(service, name, { payload: JSON.stringify(example) });
    }
  });
});
