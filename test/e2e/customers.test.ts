// Customers of one app: who receives what, what a key that is bound to a customer may do, and that no operation shows or
// changes anything of another customer. On both databases.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Environment } from '../../src/config.ts';
import { start, type Answer, type Call, type Started } from '../api/harness.ts';
import { hastyWorld } from '../api/hasty-world.ts';
import { openPortal } from '../api/portal-session.ts';
import { freshDatabase } from '../postgres/database.ts';
import { attacksOn } from './customer-attacks.ts';
import { receive, type Receiver } from './receiver.ts';
import { quiet, until, type Accepted, type DeliveryView, type Page } from './stage.ts';

const payload = { message: 'for the eyes of cus_1 only' };
const env: Environment = { RINGBACK_RETRY: '1d' };

for (const [database, open] of Object.entries({
  SQLite: async () => ({ url: undefined, [Symbol.asyncDispose]: async () => undefined }),
  PostgreSQL: async () => freshDatabase(),
})) {
  describe(`customers, on ${database}`, () => {
    let made: AsyncDisposableStack;
    let service: Started;
    let receiver: Receiver;
    const keys: Record<string, string> = {};
    before(async () => {
      made = new AsyncDisposableStack();
      const { url } = made.use(await open());
      receiver = made.use(await receive(({ url: path }) => (path.includes('fails') ? 500 : 200)));
      const at: Environment = url === undefined ? {} : { DATABASE_URL: url };
      service = made.use(await start({ env: { ...env, ...at }, world: hastyWorld() }));
      for (const customer of ['cus_1', 'cus_2']) {
        const scopes = ['subscribe', 'publish', 'read', 'retry'];
        const key = await post('/keys', { name: customer, scopes, customer });
        assert.equal(key.status, 201, key.text);
        assert.equal(key.json['customer'], customer);
        keys[customer] = String(key.json['key']);
      }
    });
    after(async () => made[Symbol.asyncDispose]());

    async function post(path: string, body: object, more: Partial<Call> = {}): Promise<Answer> {
      return service.call({ method: 'POST', path, body, ...more });
    }

    function as(customer: string): Pick<Call, 'key'> {
      return { key: keys[customer] ?? '' };
    }

    /** Somebody who has opened a link to the portal of the customer. */
    async function portalOf(customer: string): Promise<Pick<Call, 'key' | 'headers'>> {
      const token = await openPortal(service, { customer });
      return { key: null, headers: { 'x-portal-session': token } };
    }

    /** Returns the id. */
    async function subscribe(
      event: string,
      settings: object = {},
      { path = event, ...more }: Partial<Call> = {},
    ): Promise<string> {
      const callbackUrl = `${receiver.url}/${path}`;
      const body = { callbackUrl, 'x-ringback': { events: [event], ...settings } };
      const answer = await post('/subscribe', body, more);
      assert.equal(answer.status, 201, answer.text);
      return String(answer.json['subscriberId']);
    }

    async function publish(body: object, more: Partial<Call> = {}): Promise<Accepted> {
      const answer = await post('/events', { payload, ...body }, more);
      assert.equal(answer.status, 202, answer.text);
      return answer.json as unknown as Accepted;
    }

    async function list<T>(path: string, more: Partial<Call> = {}): Promise<T[]> {
      const { status, json, text } = await service.call({ path, ...more });
      assert.equal(status, 200, text);
      return (json as unknown as Page<T>).items;
    }

    const idsOf = (items: readonly { id: string }[]): string[] =>
      items.map(({ id }) => id).toSorted();

    /** Status, code, and the fields that are wrong. */
    function refusal({ status, json }: Answer): unknown[] {
      const errors = (json['errors'] ?? []) as { field: string }[];
      return [status, json['code'], ...errors.map(({ field }) => field)];
    }

    it('receive what is published to them, and what is published to all', async () => {
      const event = 'order.shipped';
      const one = await subscribe(event, { customer: 'cus_1' });
      const two = await subscribe(event, { customer: 'cus_2' });
      const any = await subscribe(event);
      const toOne = await publish({ event, customer: 'cus_1' });
      assert.equal(toOne.deliveries, 1);
      assert.equal((await publish({ event, customer: 'cus_3' })).deliveries, 0);
      const toAll = await publish({ event });
      assert.equal(toAll.deliveries, 3);
      const events = ['cus_1', 'cus_2'].map((customer) => ({ event, payload, customer }));
      const batch = await post('/events/batch', { events });
      assert.deepEqual(
        (batch.json['items'] as Accepted[]).map(({ deliveries }) => deliveries),
        [1, 1],
      );
      await quiet(service);
      const deliveries = await list<DeliveryView & { customer?: string }>(
        `/deliveries?event=${event}&customer=cus_1`,
      );
      assert.deepEqual(new Set(deliveries.map((each) => each.subscriberId)), new Set([one]));
      assert.deepEqual(new Set(deliveries.map((each) => each.customer)), new Set(['cus_1']));
      assert.equal(deliveries.length, 3);
      const published = await list<{ id: string; customer?: string }>('/events?customer=cus_1');
      assert(published.some(({ id, customer }) => id === toOne.eventId && customer === 'cus_1'));
      assert(!published.some(({ id }) => id === toAll.eventId));
      const owned = await list<{ id: string }>('/subscriptions?customer=cus_2');
      assert.deepEqual(idsOf(owned), [two]);
      assert.equal((await list('/subscriptions?customer=cus_9')).length, 0);
      const moved = await service.call({
        method: 'PATCH',
        path: `/subscriptions/${any}`,
        body: { customer: 'cus_3' },
      });
      assert.equal(moved.json['customer'], 'cus_3');
      assert.equal((await publish({ event, customer: 'cus_3' })).deliveries, 1);
      const freed = await service.call({
        method: 'PATCH',
        path: `/subscriptions/${any}`,
        body: { customer: null },
      });
      assert.equal(freed.json['customer'], undefined);
    });

    it('are listed by name, with their subscriptions and their health', async () => {
      const event = 'listed';
      const at = ['zoe', 'ann', 'ann', 'Ümit', 'ann'];
      const ids: string[] = [];
      for (const customer of at) ids.push(await subscribe(event, { customer, retry: [] }));
      const [, first, second, , third] = ids;
      await service.call({
        method: 'PATCH',
        path: `/subscriptions/${first}`,
        body: { state: 'paused' },
      });
      await service.call({ method: 'DELETE', path: `/subscriptions/${second}` });
      const url = `${receiver.url}/fails`;
      const body = { callbacks: [{ position: 0, url }] };
      await service.call({ method: 'PATCH', path: `/subscriptions/${third}`, body });
      const { eventId } = await publish({ event, customer: 'ann' });
      // That of the paused subscription stays pending.
      const failed = `/deliveries?eventId=${eventId}&subscriberId=${third}`;
      await until(
        async () => list<DeliveryView>(failed),
        ([one]) => one?.state === 'dead',
      );
      const names: string[] = [];
      let path = '/customers?limit=2';
      for (let pages = 0; pages < 9 && path !== ''; pages += 1) {
        const page = await service.call({ path });
        const items = page.json['items'] as { customer: string }[];
        names.push(...items.map(({ customer }) => customer));
        const next = page.json['nextCursor'];
        path =
          typeof next === 'string' ? `/customers?limit=2&cursor=${encodeURIComponent(next)}` : '';
      }
      assert.deepEqual(names, names.toSorted());
      assert.equal(new Set(names).size, names.length);
      for (const name of at) assert(names.includes(name), name);
      const all = await list<{ customer: string; health: { failingSince?: string } }>('/customers');
      const ann = all.find(({ customer }) => customer === 'ann');
      assert(ann?.health.failingSince);
      assert.deepEqual(
        { ...ann, health: { ...ann.health, failingSince: '' } },
        {
          customer: 'ann',
          subscriptions: { unconfirmed: 0, active: 1, paused: 1, disabled: 0 },
          subscriptionsAreCapped: false,
          health: { state: 'failing', failures: 1, failingSince: '' },
        },
      );
      // Later tests wait until nothing is pending.
      await service.call({ method: 'DELETE', path: `/subscriptions/${first}` });
      const own = await list<{ customer: string }>('/customers', as('cus_1'));
      assert.deepEqual(
        own.map(({ customer }) => customer),
        ['cus_1'],
      );
      const wrong = await service.call({ path: '/customers?cursor=7' });
      assert.deepEqual(refusal(wrong), [400, 'invalid_request', 'query.cursor']);
    });

    it('have names of 1 to 128 characters', async () => {
      for (const customer of ['', 'x'.repeat(129), 'a\0b', 7]) {
        const event = 'named';
        const callbackUrl = `${receiver.url}/named`;
        const subscribed = await post('/subscribe', { callbackUrl, 'x-ringback': { customer } });
        assert.deepEqual(
          refusal(subscribed).slice(0, 2),
          [400, 'invalid_request'],
          subscribed.text,
        );
        const published = await post('/events', { event, payload, customer });
        assert.deepEqual(refusal(published), [400, 'invalid_request', 'body#/customer']);
        const key = await post('/keys', { name: 'k', scopes: ['read'], customer });
        assert.deepEqual(refusal(key), [400, 'invalid_request', 'body#/customer']);
      }
      const longest = 'ß'.repeat(128);
      const id = await subscribe('named', { customer: longest });
      const listed = await list(`/subscriptions?customer=${encodeURIComponent(longest)}`);
      assert.deepEqual(idsOf(listed as { id: string }[]), [id]);
      const wrong = await service.call({ path: '/subscriptions?costumer=cus_1' });
      assert.match(wrong.text, /did you mean \\"customer\\"|customer/);
      assert.equal(wrong.status, 400);
    });

    it('have statistics, which a key that is bound to one and a portal get of their own', async () => {
      const event = 'counted';
      const own = await subscribe(event, { customer: 'cus_5' });
      const ended = await subscribe(event, { customer: 'cus_5' });
      const other = await subscribe(event, { customer: 'cus_6' });
      await publish({ event, customer: 'cus_5' });
      await publish({ event });
      await quiet(service);
      await service.call({ method: 'DELETE', path: `/subscriptions/${ended}` });
      const statsOf = async (query: string, more: Partial<Call> = {}): Promise<CustomerStats> => {
        const { status, json, text } = await service.call({ path: `/stats?${query}`, ...more });
        assert.equal(status, 200, text);
        return json as unknown as CustomerStats;
      };
      // Figures of subscriptions are written a while after the deliveries.
      const stats = await until(
        async () => statsOf('customer=cus_5&range=24h'),
        ({ totals }) => totals.delivered === 4,
      );
      const { totals, steps, pending, oldestPendingAt, subscriptionsAreCapped, attention } = stats;
      assert.deepEqual([totals.published, totals.dead, totals.successRate], [4, 0, 1]);
      assert.equal(steps.length, 48);
      assert.equal(
        steps.reduce((sum, { delivered }) => sum + delivered, 0),
        4,
      );
      assert.deepEqual([pending, oldestPendingAt, attention], [0, null, []]);
      assert.equal(subscriptionsAreCapped, false);
      assert.equal((await statsOf('customer=cus_9')).totals.published, 0);
      assert.equal((await statsOf('')).subscriptionsAreCapped, undefined);

      const scopes = ['read'];
      const bound = await post('/keys', { name: 'cus_5', scopes, customer: 'cus_5' });
      const span = `from=${stats.from}&until=${stats.until}`;
      const expected = await statsOf(`customer=cus_5&${span}`);
      for (const caller of [{ key: String(bound.json['key']) }, await portalOf('cus_5')]) {
        assert.deepEqual(await statsOf(span, caller), expected);
        assert.deepEqual(await statsOf(`customer=cus_5&${span}`, caller), expected);
        const foreign = await service.call({ path: '/stats?customer=cus_6', ...caller });
        assert.deepEqual(refusal(foreign), [403, 'bound_key', 'query.customer']);
        assert.equal((await statsOf(`subscriberId=${own}`, caller)).totals.delivered, 2);
        const hidden = await service.call({ path: `/stats?subscriberId=${other}`, ...caller });
        assert.deepEqual(refusal(hidden), [404, 'not_found']);
        const some = await list<{ subscriberId: string }>(
          `/stats/subscriptions?subscriberIds=${other},${own}`,
          caller,
        );
        assert.deepEqual(
          some.map(({ subscriberId }) => subscriberId),
          [own],
        );
      }
      const mixed = await service.call({ path: `/stats?customer=cus_5&subscriberId=${other}` });
      assert.deepEqual(refusal(mixed), [404, 'not_found']);
    });

    describe('a key that is bound to one', () => {
      it('makes, sees and publishes what is theirs', async () => {
        const event = 'mine';
        const own = await subscribe(event, {}, as('cus_1'));
        const other = await subscribe(event, {}, as('cus_2'));
        const seen = await service.call({ path: `/subscriptions/${own}`, ...as('cus_1') });
        assert.equal(seen.json['customer'], 'cus_1');
        assert.equal((await publish({ event }, as('cus_1'))).deliveries, 1);
        assert.equal((await publish({ event, customer: 'cus_1' }, as('cus_1'))).deliveries, 1);
        const foreign = await post('/events', { event, payload, customer: 'cus_2' }, as('cus_1'));
        assert.deepEqual(refusal(foreign), [403, 'bound_key', 'body#/customer']);
        const named = await post(
          '/subscribe',
          { callbackUrl: receiver.url, 'x-ringback': { customer: 'cus_2' } },
          as('cus_1'),
        );
        assert.deepEqual(refusal(named), [403, 'bound_key', 'body#/x-ringback/customer']);
        const addressed = await post(
          '/events',
          { event, payload, subscriberId: other },
          as('cus_1'),
        );
        assert.deepEqual(refusal(addressed), [404, 'not_found', 'body#/subscriberId']);
        for (const customer of ['cus_2', null]) {
          const path = `/subscriptions/${own}`;
          const given = await service.call({
            method: 'PATCH',
            path,
            body: { customer },
            ...as('cus_1'),
          });
          assert.deepEqual(refusal(given), [403, 'bound_key', 'body#/customer']);
        }
        for (const path of ['/subscriptions', '/deliveries', '/events', '/stats']) {
          const answer = await service.call({ path: `${path}?customer=cus_2`, ...as('cus_1') });
          assert.deepEqual(refusal(answer), [403, 'bound_key', 'query.customer']);
        }
      });

      it('sees an event that was published to all if it was delivered to them', async () => {
        await subscribe('news', {}, as('cus_1'));
        await subscribe('news', {}, as('cus_2'));
        const { eventId } = await publish({ event: 'news' });
        const event = await service.call({ path: `/events/${eventId}`, ...as('cus_1') });
        assert.deepEqual([event.status, event.json['deliveries']], [200, null], event.text);
        assert.deepEqual(event.json['payload'], payload);
        const unread = await publish({ event: 'unread' });
        const hidden = await service.call({ path: `/events/${unread.eventId}`, ...as('cus_1') });
        assert.equal(hidden.status, 404);
      });

      it('never gets the answer of the same request of another customer', async () => {
        const headers = { 'idempotency-key': 'the same' };
        const body = { callbackUrl: `${receiver.url}/same` };
        const answers = await Promise.all(
          ['cus_1', 'cus_2'].map(async (name) =>
            post('/subscribe', body, { headers, ...as(name) }),
          ),
        );
        const [one, two] = answers.map(({ json }) => json);
        assert.notEqual(one?.['subscriberId'], two?.['subscriberId']);
        assert.notEqual(one?.['secret'], two?.['secret']);
        const again = await post('/subscribe', body, { headers, ...as('cus_1') });
        assert.deepEqual(again.json, one);
      });

      it('cannot do what concerns the whole app, nor sign in to its console', async () => {
        for (const path of ['/keys', '/stream', '/apps', '/nodes']) {
          const { status, json } = await service.call({ path, ...as('cus_1') });
          assert.equal(status, 403, path);
          assert(['bound_key', 'missing_scope'].includes(String(json['code'])), path);
        }
        const session = await post(
          '/console/session',
          { key: keys['cus_1'] },
          { key: null, headers: { origin: service.url, 'sec-fetch-site': 'same-origin' } },
        );
        assert.deepEqual(refusal(session), [403, 'bound_key']);
        for (const scope of ['admin', 'operator']) {
          const body = { name: 'too much', scopes: ['read', scope], customer: 'cus_1' };
          assert.deepEqual(refusal(await post('/keys', body)), [
            400,
            'invalid_request',
            'body#/scopes',
          ]);
        }
      });
    });

    it('see and change nothing of each other, whatever the operation', async () => {
      const sight = 'secret-of-cus-1';
      const own = await subscribe(
        'private',
        { customer: 'cus_1', description: sight, retry: [] },
        { path: `fails/${sight}` },
      );
      const message = { message: sight };
      const event = await publish({ event: 'private', customer: 'cus_1', payload: message });
      await quiet(service);
      const [dead] = await list<DeliveryView>(
        `/deliveries?eventId=${event.eventId}&subscriberId=${own}`,
      );
      assert.equal(dead?.state, 'dead');
      const replay = await post('/replays', {
        filter: { state: 'delivered', subscriberId: own, customer: 'cus_1' },
      });
      assert.equal(replay.status, 201, replay.text);
      await until(
        async () => (await service.call({ path: `/replays/${String(replay.json['id'])}` })).json,
        ({ state }) => state === 'done',
      );
      const [key] = (await list<{ id: string; customer?: string }>('/keys')).filter(
        ({ customer }) => customer === 'cus_1',
      );
      const ids = { own, event: event.eventId, dead: dead.id, replay: String(replay.json['id']) };
      const snapshot = async (): Promise<string> => {
        const paths = [
          `/subscriptions/${ids.own}`,
          `/subscriptions/${ids.own}/secret`,
          `/events/${ids.event}`,
          `/deliveries/${ids.dead}`,
          `/replays/${ids.replay}`,
          '/subscriptions?customer=cus_1&limit=500',
          '/deliveries?customer=cus_1&limit=500',
        ];
        const answers = await Promise.all(paths.map(async (path) => service.call({ path })));
        assert(answers.every(({ status }) => status === 200));
        return JSON.stringify(answers.map(({ text }) => text));
      };
      const all = [...Object.values(ids), key?.id ?? ''];
      const attacks = await attacksOn(service, all);
      assert(attacks.length > 150, `only ${attacks.length} attacks`);
      const run = async (caller: Pick<Call, 'key' | 'headers'>): Promise<string[]> => {
        const leaks: string[] = [];
        for (const attack of attacks) {
          const answer = await service.call({
            ...attack,
            ...caller,
            signal: AbortSignal.timeout(60_000),
          });
          const said = `${answer.text}${JSON.stringify([...answer.headers])}`;
          const isEmpty = (answer.json['items'] as unknown[] | undefined)?.length === 0;
          const isFound =
            answer.status < 300 && !isEmpty && all.some((id) => attack.path.includes(id));
          const isTold =
            attack.path.startsWith('/audit') && all.some((id) => answer.text.includes(id));
          if (said.includes(sight) || isFound || isTold) {
            leaks.push(
              `${attack.method} ${attack.path} ${JSON.stringify(attack.body)}: ${answer.text}`,
            );
          }
        }
        return leaks;
      };
      const unchanged = await snapshot();
      for (const caller of [as('cus_2'), await portalOf('cus_2')]) {
        assert.deepEqual(await run(caller), []);
        assert.equal(await snapshot(), unchanged, 'something was changed');
      }
      // The same attacks by somebody who may see all: the check must notice them.
      assert((await run({ key: service.key })).length > 15);
      assert.notEqual(await snapshot(), unchanged, 'the attacks can change something');
    });
  });
}

interface CustomerStats {
  from: string;
  until: string;
  steps: { delivered: number }[];
  totals: { published: number; delivered: number; dead: number; successRate: number | null };
  pending: number;
  oldestPendingAt: string | null;
  subscriptionsAreCapped?: boolean;
  attention: unknown[];
}
