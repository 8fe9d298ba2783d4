// /replays over real sockets, by status.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { receive, type Receiver } from '../e2e/receiver.ts';
import { publish, subscribe, until } from '../e2e/stage.ts';
import { start, type Answer, type Running } from './harness.ts';

describe('/replays', () => {
  let service: Running;
  let receiver: Receiver;
  let subscriberId: string;
  /** Three dead deliveries of `order.created`, one of `other`. */
  before(async () => {
    service = await start({ env: { RINGBACK_RETRY: '1ms' } });
    receiver = await receive(() => 503);
    subscriberId = (await subscribe(service, receiver.url)).id;
    for (const name of ['order.created', 'order.created', 'order.created', 'other']) {
      await publish(service, name);
    }
    await deadOnes(4);
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  const deadOnes = async (count: number): Promise<unknown> =>
    until(
      async () => service.call({ path: '/deliveries?state=dead' }),
      ({ json }) => itemsOf(json).length === count,
    );

  const post = async (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    service.call({ method: 'POST', path: '/replays', body, headers });

  const cancel = async (id: unknown): Promise<Answer> =>
    service.call({ method: 'POST', path: `/replays/${String(id)}/cancel` });

  const newKey = async (scopes: string[]): Promise<string> => {
    const body = { name: 'a key', scopes };
    const { json } = await service.call({ method: 'POST', path: '/keys', body });
    return String(json['key']);
  };

  describe('200', () => {
    it('counts what would be sent again, and stores nothing', async () => {
      const count = async (filter: object): Promise<unknown> => {
        const answer = await post({ filter, dryRun: true });
        assert.equal(answer.status, 200, answer.text);
        return answer.json;
      };
      const counted = (matched: number): object => ({ matched, isCapped: false });
      assert.deepEqual(await count({}), counted(4));
      assert.deepEqual(await count({ event: 'order.*', status: '5xx' }), counted(3));
      assert.deepEqual(await count({ event: '*', error: 'exhausted', subscriberId }), counted(4));
      assert.deepEqual(await count({ state: 'ended', status: '503' }), counted(4));
      assert.deepEqual(await count({ state: 'delivered' }), counted(0));
      assert.deepEqual(await count({ until: '2001-01-01T00:00:00Z' }), counted(0));
      assert.deepEqual(await count({ from: '2001-01-01T00:00:00+02:00' }), counted(4));
      const { json } = await service.call({ path: '/replays' });
      assert.deepEqual(json, { items: [], nextCursor: null });
    });
  });

  describe('201', () => {
    it('answers with the replay and its location; it runs, and ends', async () => {
      receiver.script = () => 200;
      const filter = { event: 'other', from: '2026-01-01T00:00:00.000Z' };
      const made = await post({ filter, ratePerSecond: 7 });
      assert.equal(made.status, 201, made.text);
      const { id, createdAt, ...rest } = made.json;
      assert.match(String(id), /^rpl_[0-9a-z]{26}$/);
      assert.equal(made.headers.get('location'), `/replays/${String(id)}`);
      assert.deepEqual(rest, {
        state: 'running',
        filter: { state: 'dead', ...filter, until: createdAt },
        ratePerSecond: 7,
        matched: 0,
        replayed: 0,
        skipped: 0,
        progress: 0,
      });
      const read = async (): Promise<Answer> => service.call({ path: `/replays/${String(id)}` });
      const { json } = await until(read, (answer) => answer.json['state'] === 'done');
      assert.equal(Date.parse(String(json['endedAt'])) >= Date.parse(String(createdAt)), true);
      const { matched, replayed, skipped, progress } = json;
      assert.deepEqual([matched, replayed, skipped, progress], [1, 1, 0, 1]);
      await deadOnes(3);
      const list = await service.call({ path: '/replays?limit=1' });
      assert.deepEqual(itemsOf(list.json), [json]);
    });

    it('answers the same key with the same replay, and 422 for another request', async () => {
      const headers = { 'idempotency-key': 'one' };
      const body = { filter: { event: 'nothing' } };
      const first = await post(body, headers);
      assert.equal(first.status, 201);
      assert.equal((await post(body, headers)).json['id'], first.json['id']);
      const other = await post({ filter: { event: 'something' } }, headers);
      assert.deepEqual([other.status, other.json['code']], [422, 'idempotency_mismatch']);
    });
  });

  describe('400', () => {
    const bad: Readonly<Record<string, object>> = {
      'body#/filter/state': { filter: { state: 'due' } },
      'body#/filter/event': { filter: { event: 'a'.repeat(257) } },
      'body#/filter/status': { filter: { status: '9xx' } },
      'body#/filter/error': { filter: { error: 'unknown' } },
      'body#/filter/from': {
        filter: { from: '2026-01-02T00:00:00Z', until: '2026-01-02T00:00:00Z' },
      },
      'body#/filter/until': { filter: { until: '2026-06-30T23:59:60Z' } },
      'body#/ratePerSecond': { ratePerSecond: limits.replayRateMax + 1 },
      'body#/dryRun': { dryRun: 'yes' },
    };
    for (const [field, body] of Object.entries(bad)) {
      it(`names ${field}`, async () => {
        const { status, json, text } = await post(body);
        assert.equal(status, 400, text);
        const [fault] = json['errors'] as { field: string }[];
        assert.equal(fault?.field, field);
      });
    }

    it('refuses a time that cannot be represented in UTC', async () => {
      for (const name of ['from', 'until']) {
        const filter = { [name]: '9999-12-31T23:59:59-23:59' };
        const { status, json } = await post({ filter, dryRun: true });
        assert.equal(status, 400);
        assert.match(String(json['detail']), /UTC timestamp .* 9999/);
      }
    });

    it('refuses unknown fields', async () => {
      for (const body of [{ filter: { app: 'x' } }, { rate: 5 }, [], { filter: null }]) {
        assert.equal((await post(body)).status, 400, JSON.stringify(body));
      }
      assert.equal((await post(undefined)).status >= 400, true);
    });
  });

  describe('403', () => {
    it('allows reading with the scope read, and changes with the scope admin', async () => {
      const [reader, admin] = [await newKey(['read']), await newKey(['admin'])];
      const { id } = (await post({ filter: { event: 'nothing' } })).json;
      const statusOf = async (key: string, method: string, path: string): Promise<number> => {
        const body = path === '/replays' && method === 'POST' ? { dryRun: true } : undefined;
        return (await service.call({ method, path, key, body })).status;
      };
      const paths = ['/replays', `/replays/${String(id)}`];
      for (const path of paths) assert.equal(await statusOf(reader, 'GET', path), 200);
      assert.equal(await statusOf(reader, 'POST', '/replays'), 403);
      assert.equal(await statusOf(reader, 'POST', `/replays/${String(id)}/cancel`), 403);
      assert.equal(await statusOf(admin, 'POST', '/replays'), 200);
    });
  });

  describe('404', () => {
    it('answers an unknown subscription, also in a dry run', async () => {
      for (const dryRun of [true, false]) {
        for (const unknown of ['sub_00000000000000000000000000', 'nonsense']) {
          const answer = await post({ filter: { subscriberId: unknown }, dryRun });
          assert.equal(answer.status, 404, answer.text);
        }
      }
    });
  });

  describe('409', () => {
    it('cancels a running replay, also repeatedly, but not a finished one', async () => {
      receiver.script = () => 200;
      const { id } = (await post({ ratePerSecond: 1 })).json;
      const first = await cancel(id);
      assert.deepEqual([first.status, first.json['state']], [200, 'cancelled']);
      const again = await cancel(id);
      assert.deepEqual([again.status, again.text], [200, first.text]);
      const done = await post({ filter: { event: 'order.*', until: '2001-01-01T00:00:00Z' } });
      assert.equal(done.json['state'], 'done');
      const late = await cancel(done.json['id']);
      assert.deepEqual([late.status, late.json['code']], [409, 'conflict']);
    });

    it('limits the number of running replays', async () => {
      // At one delivery per second these run for a while.
      const made: unknown[] = [];
      for (let i = 0; i < 5; i += 1) await publish(service, 'more');
      await until(
        async () => service.call({ path: '/deliveries?state=delivered' }),
        ({ json }) => itemsOf(json).length >= 6,
      );
      for (let i = 0; i < limits.replaysRunningMax; i += 1) {
        const answer = await post({ filter: { state: 'delivered' }, ratePerSecond: 1 });
        assert.equal(answer.status, 201, answer.text);
        made.push(answer.json['id']);
      }
      const refused = await post({ filter: { state: 'delivered' } });
      assert.deepEqual([refused.status, refused.json['code']], [409, 'conflict']);
      for (const id of made) await cancel(id);
    });
  });
});

function itemsOf(json: Record<string, unknown>): unknown[] {
  return json['items'] as unknown[];
}
