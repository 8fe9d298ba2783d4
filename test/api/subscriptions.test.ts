// Existing subscriptions over real sockets: read, changed, ended; their secrets; and the guarantees of
// an Idempotency-Key. Creating them is tested in interface.test.ts.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readDocument } from '../../src/contract/document/document.ts';
import { noChoice } from '../../src/core/domain/read-controls.ts';
import type { Context } from '../../src/engine/context.ts';
import {
  changeSubscription,
  getSecrets,
  getSubscription,
  rotateSecret,
} from '../../src/engine/subscribe/subscriptions.ts';
import { frozenWorld, type FrozenWorld } from './frozen-world.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';
import { mountContract, type Mounted } from './mount-contract.ts';
import { rawClient } from './raw-client.ts';

const ownDocument = readDocument(join(import.meta.dirname, '..', '..', 'openapi.yaml'))
  .root as Record<string, unknown>;

const dayMs = 24 * 60 * 60 * 1000;
const hook = 'http://127.0.0.1:9000/hook';

interface CallbackView {
  position: number;
  label: string;
  event: string;
  method: string;
  url?: string;
  inactive?: string;
}

interface SubscriptionView {
  id: string;
  state: string;
  callbacks: CallbackView[];
  createdAt: string;
  endedAt?: string;
}

interface SecretView {
  secret: string;
  previous?: { secret: string; expiresAt: string };
}

interface Stage extends AsyncDisposable {
  service: Running;
  world: FrozenWorld;
  subscribe: (more?: Partial<Call>) => Promise<{ id: string; secret: string }>;
  get: (id: string) => Promise<SubscriptionView>;
  patch: (id: string, body: object) => Promise<Answer>;
  secret: (id: string) => Promise<SecretView>;
  rotate: (id: string, body?: object) => Promise<SecretView>;
  list: (query?: string) => Promise<{ items: SubscriptionView[]; nextCursor: string | null }>;
}

async function stage(
  env: Record<string, string> = {},
  names: Record<string, string[]> = {},
): Promise<Stage> {
  const world = frozenWorld();
  const service = await start({ env, world, names });
  const ask = async (status: number, call: Call): Promise<unknown> => {
    const answer = await service.call(call);
    assert.equal(answer.status, status, answer.text);
    return answer.json;
  };
  return {
    service,
    world,
    subscribe: async (more = {}) => {
      const body = { callbackUrl: hook };
      const answer = await service.call({ method: 'POST', path: '/subscribe', body, ...more });
      assert.ok(answer.status === 200 || answer.status === 201, answer.text);
      const { subscriberId, secret } = answer.json;
      return { id: String(subscriberId), secret: String(secret) };
    },
    get: async (id) => (await ask(200, { path: `/subscriptions/${id}` })) as SubscriptionView,
    patch: async (id, body) =>
      service.call({ method: 'PATCH', path: `/subscriptions/${id}`, body }),
    secret: async (id) => (await ask(200, { path: `/subscriptions/${id}/secret` })) as SecretView,
    rotate: async (id, body) => {
      const path = `/subscriptions/${id}/secret/rotate`;
      return (await ask(200, { method: 'POST', path, body })) as SecretView;
    },
    list: async (query = '') =>
      (await ask(200, { path: `/subscriptions${query}` })) as {
        items: SubscriptionView[];
        nextCursor: string | null;
      },
    [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose](),
  };
}

function assertProblem(answer: Answer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json['code'], code);
}

function fieldsOf(answer: Answer): string[] {
  return (answer.json['errors'] as { field: string }[]).map(({ field }) => field);
}

describe('listSubscriptions', () => {
  it('pages through all of them or those of one state, newest first', async () => {
    await using on = await stage();
    const made: string[] = [];
    for (let index = 0; index < 9; index += 1) made.unshift((await on.subscribe()).id);
    const paused = made.filter((_, index) => index % 3 === 0);
    const ended = made.filter((_, index) => index % 3 === 1);
    for (const id of paused) await on.patch(id, { state: 'paused' });
    for (const id of ended) {
      await on.service.call({ method: 'DELETE', path: `/subscriptions/${id}` });
    }
    const lists = {
      '': made,
      '&state=active': made.filter((_, index) => index % 3 === 2),
      '&state=paused': paused,
      '&state=ended': ended,
      '&state=disabled': [],
    };
    for (const [filter, wanted] of Object.entries(lists)) {
      for (const limit of [1, 2, 4, 9, 500]) {
        const seen: string[] = [];
        let cursor: string | null = null;
        do {
          const after: string = cursor === null ? '' : `&cursor=${cursor}`;
          const page = await on.list(`?limit=${limit}${filter}${after}`);
          assert.ok(page.items.length <= limit);
          seen.push(...page.items.map(({ id }) => id));
          cursor = page.nextCursor;
        } while (cursor !== null);
        assert.deepEqual(seen, wanted, `${filter}, limit ${limit}`);
      }
    }
  });

  it('returns 50 by default, and no secret', async () => {
    await using on = await stage();
    await Promise.all(Array.from({ length: 51 }, async () => on.subscribe()));
    const page = await on.list();
    assert.equal(page.items.length, 50);
    assert.notEqual(page.nextCursor, null);
    assert.ok(!JSON.stringify(page).includes('whsec_'));
  });

  it('refuses an invalid state, limit or cursor', async () => {
    await using on = await stage();
    for (const query of ['state=odd', 'state=', 'limit=0', 'limit=501', 'cursor=x', 'cursor=0']) {
      const answer = await on.service.call({ path: `/subscriptions?${query}` });
      assertProblem(answer, 400, 'invalid_request');
      assert.deepEqual(fieldsOf(answer), [`query.${query.split('=')[0]}`]);
    }
  });
});

describe('getSubscription', () => {
  it('shows the created subscription, with the reason of each inactive callback', async () => {
    await using on = await stage();
    const { id } = await on.subscribe({ body: { successUrl: hook } });
    const { callbacks, ...shown } = await on.get(id);
    assert.deepEqual(shown, {
      id,
      state: 'active',
      contract: 'Ringback',
      operation: 'subscribeOperation',
      ordered: false,
      createdAt: '2026-03-01T12:00:00.000Z',
      health: { state: 'ok', failures: 0 },
    });
    assert.deepEqual(
      callbacks.map(({ position, label, event, url }) => [position, label, event, url]),
      [
        [0, 'inProgress', 'inProgress', undefined],
        [1, 'inProgress', 'failed', undefined],
        [2, 'inProgress', 'success', hook],
      ],
    );
    assert.match(callbacks[0]?.inactive ?? '', /inProgressUrl/);
    assert.equal(callbacks[2]?.inactive, undefined);
  });

  it('answers 404 to an unknown or malformed id', async () => {
    await using on = await stage();
    for (const id of ['sub_00000000000000000000000000', 'sub_', 'x', 'app_1', '%F0%9F%92%A5']) {
      const answer = await on.service.call({ path: `/subscriptions/${id}` });
      assertProblem(answer, 404, 'not_found');
    }
  });
});

describe('editSubscription', () => {
  it('pauses and resumes, and changes nothing the second time', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    for (const state of ['paused', 'paused', 'active', 'active']) {
      const answer = await on.patch(id, { state });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.json, await on.get(id));
      assert.equal(answer.json['state'], state);
    }
  });

  it('changes a target to the canonical form of the new URL', async () => {
    await using on = await stage({}, { 'new.example': ['93.184.216.34'] });
    const { id } = await on.subscribe();
    const urls = {
      'https://new.example/cb?x=1': 'https://new.example/cb?x=1',
      'HTTPS://NEW.example:443/a/../b': 'https://new.example/b',
      'http://127.0.0.1:9001': 'http://127.0.0.1:9001/',
    };
    for (const [url, canonical] of Object.entries(urls)) {
      const answer = await on.patch(id, { callbacks: [{ position: 0, url }] });
      assert.equal(answer.status, 200, answer.text);
      assert.equal((await on.get(id)).callbacks[0]?.url, canonical);
    }
  });

  it('checks a new target like the first one, and names the field', async () => {
    await using on = await stage({}, { 'inside.example': ['10.0.0.1'] });
    const { id } = await on.subscribe({ body: { inProgressUrl: hook, failedUrl: hook } });
    const before = await on.get(id);
    const refused = [
      'http://10.0.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://[fd00::1]/',
      'http://inside.example/',
      'http://no-such-name.example/',
      'ftp://127.0.0.1/',
      'http://user:pass@127.0.0.1:9000/',
      'http://127.0.0.1:22/',
      `http://127.0.0.1:9000/${'x'.repeat(4096)}`,
    ];
    for (const url of refused) {
      const good = { position: 0, url: 'http://127.0.0.1:9002/' };
      const answer = await on.patch(id, {
        state: 'paused',
        callbacks: [good, { position: 1, url }],
      });
      assertProblem(answer, 422, 'target_refused');
      assert.deepEqual(fieldsOf(answer), ['body#/callbacks/1/url'], url);
      assert.deepEqual(await on.get(id), before, 'all changes or none');
    }
  });

  it('reports all refused targets at once', async () => {
    await using on = await stage();
    const { id } = await on.subscribe({ body: { inProgressUrl: hook } });
    const callbacks = [0, 1, 2].map((position) => ({ position, url: 'http://10.0.0.1/' }));
    const answer = await on.patch(id, { callbacks });
    const fields = [0, 1, 2].map((position) => `body#/callbacks/${position}/url`);
    assert.deepEqual(fieldsOf(answer), fields);
  });

  it('activates an inactive callback', async () => {
    await using on = await stage();
    const { id } = await on.subscribe({ body: { successUrl: hook } });
    const url = 'http://127.0.0.1:9000/progress';
    assert.equal((await on.patch(id, { callbacks: [{ position: 0, url }] })).status, 200);
    const { callbacks } = await on.get(id);
    assert.equal(callbacks[0]?.url, url);
    assert.equal(callbacks[0]?.inactive, undefined);
    assert.notEqual(callbacks[1]?.inactive, undefined, 'the other one stays inactive');
  });

  it('changes state and targets together', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const url = 'http://127.0.0.1:9003/';
    await on.patch(id, { state: 'paused', callbacks: [{ position: 0, url }] });
    const { state, callbacks } = await on.get(id);
    assert.deepEqual([state, callbacks[0]?.url], ['paused', url]);
  });

  it('refuses a position that does not exist or is given twice, and changes nothing', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const before = await on.get(id);
    const good = { position: 0, url: 'http://127.0.0.1:9004/' };
    for (const bad of [{ position: 1, url: hook }, good, { position: 9e15, url: hook }]) {
      const answer = await on.patch(id, { state: 'paused', callbacks: [good, bad] });
      assertProblem(answer, 400, 'invalid_request');
      assert.deepEqual(fieldsOf(answer), ['body#/callbacks/1/position']);
      assert.deepEqual(await on.get(id), before);
    }
  });

  it('refuses changes that the contract does not offer', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const bodies = [
      {},
      { state: 'ended' },
      { state: 'disabled' },
      { callbacks: [] },
      { secret: 'x' },
      { callbacks: [{ position: -1, url: hook }] },
      { callbacks: [{ position: 0.5, url: hook }] },
      { callbacks: [{ position: 0 }] },
      { callbacks: [{ position: 0, url: hook, method: 'GET' }] },
      [],
    ];
    for (const body of bodies) {
      assertProblem(await on.patch(id, body), 400, 'invalid_request');
    }
    assert.equal((await on.get(id)).state, 'active');
  });

  it('loses none of several concurrent changes', async () => {
    await using on = await stage();
    const { id } = await on.subscribe({ body: { inProgressUrl: hook, failedUrl: hook } });
    const [urlA, urlB] = ['http://127.0.0.1:9005/', 'http://127.0.0.1:9006/'];
    const answers = await Promise.all([
      on.patch(id, { state: 'paused' }),
      on.patch(id, { callbacks: [{ position: 0, url: urlA }] }),
      on.patch(id, { callbacks: [{ position: 1, url: urlB }] }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    const { state, callbacks } = await on.get(id);
    assert.deepEqual([state, callbacks[0]?.url, callbacks[1]?.url], ['paused', urlA, urlB]);
  });

  it('answers many concurrent changes with 200 or 409, and applies those answered with 200', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const urls = Array.from({ length: 24 }, (_, index) => `http://127.0.0.1:9000/${index}`);
    const answers = await Promise.all(
      urls.map(async (url) => on.patch(id, { callbacks: [{ position: 0, url }] })),
    );
    const won = urls.filter((_, index) => answers[index]?.status === 200);
    assert.ok(won.length > 0);
    for (const answer of answers) {
      if (answer.status !== 200) assertProblem(answer, 409, 'conflict');
    }
    assert.ok(won.includes((await on.get(id)).callbacks[0]?.url ?? ''));
  });
});

describe('deleteSubscription', () => {
  it('ends it like unsubscribeOperation, and answers the same when repeated', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const path = `/subscriptions/${id}`;
    on.world.advance(1000);
    assert.equal((await on.service.call({ method: 'DELETE', path })).status, 204);
    on.world.advance(1000);
    assert.equal((await on.service.call({ method: 'DELETE', path })).status, 204);
    const again = await on.service.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
    assert.deepEqual([again.status, again.json], [200, { subscriberId: id }]);
    const { state, endedAt } = await on.get(id);
    assert.deepEqual([state, endedAt], ['ended', '2026-03-01T12:00:01.000Z']);
  });

  it('cannot be undone or changed', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    await on.service.call({ method: 'POST', path: `/unsubscribe?Id=${id}` });
    const ended = await on.get(id);
    const rotate = { method: 'POST', path: `/subscriptions/${id}/secret/rotate` };
    assertProblem(await on.patch(id, { state: 'active' }), 409, 'conflict');
    assertProblem(await on.patch(id, { callbacks: [{ position: 0, url: hook }] }), 409, 'conflict');
    assertProblem(await on.service.call(rotate), 409, 'conflict');
    assert.deepEqual(await on.get(id), ended);
  });

  it('wins over a concurrent change', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const [changed, deleted] = await Promise.all([
      on.patch(id, { state: 'paused' }),
      on.service.call({ method: 'DELETE', path: `/subscriptions/${id}` }),
    ]);
    assert.ok(changed.status === 200 || changed.status === 409);
    assert.equal(deleted.status, 204);
    assert.equal((await on.get(id)).state, 'ended');
  });

  it('answers 404 to an unknown id, like unsubscribeOperation', async () => {
    await using on = await stage();
    const id = 'sub_00000000000000000000000000';
    const calls = [
      { method: 'DELETE', path: `/subscriptions/${id}` },
      { method: 'POST', path: `/unsubscribe?Id=${id}` },
    ];
    for (const call of calls) assertProblem(await on.service.call(call), 404, 'not_found');
  });
});

describe('the signing secret', () => {
  it('can be read again after the subscribe call', async () => {
    await using on = await stage();
    const { id, secret } = await on.subscribe();
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(await on.secret(id), { secret });
    assert.notEqual((await on.subscribe()).secret, secret);
  });

  it('stays valid for 24 hours after a rotation', async () => {
    await using on = await stage();
    const { id, secret: old } = await on.subscribe();
    const rotated = await on.rotate(id);
    assert.notEqual(rotated.secret, old);
    const expiresAt = '2026-03-02T12:00:00.000Z';
    assert.deepEqual(rotated.previous, { secret: old, expiresAt });
    assert.deepEqual(await on.secret(id), rotated);
    on.world.advance(dayMs - 1);
    assert.deepEqual(await on.secret(id), rotated);
    on.world.advance(1);
    assert.deepEqual(await on.secret(id), { secret: rotated.secret });
  });

  it('ends at once with an overlap of 0, and only the last of several stays valid', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const first = await on.rotate(id, { overlapSeconds: 60 });
    const second = await on.rotate(id, { overlapSeconds: 60 });
    assert.equal(second.previous?.secret, first.secret);
    const third = await on.rotate(id, { overlapSeconds: 0 });
    assert.deepEqual(Object.keys(third), ['secret']);
    assert.deepEqual(await on.secret(id), third);
  });

  it('is replaced twice by two concurrent rotations', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const both = await Promise.all([on.rotate(id), on.rotate(id)]);
    const { secret, previous } = await on.secret(id);
    const made = new Set(both.map((one) => one.secret));
    assert.deepEqual(new Set([secret, previous?.secret]), made);
  });

  it('is not rotated with an overlap out of range, or for an unknown subscription', async () => {
    await using on = await stage();
    const { id } = await on.subscribe();
    const rotate = async (target: string, body?: object): Promise<Answer> =>
      on.service.call({ method: 'POST', path: `/subscriptions/${target}/secret/rotate`, body });
    for (const overlapSeconds of [-1, 2_592_001, 0.5, '1']) {
      assertProblem(await rotate(id, { overlapSeconds }), 400, 'invalid_request');
    }
    assertProblem(await rotate('sub_00000000000000000000000000'), 404, 'not_found');
  });

  it('appears in no log', async () => {
    await using on = await stage();
    const { id, secret } = await on.subscribe();
    const rotated = await on.rotate(id);
    await on.secret(id);
    for (const one of [secret, rotated.secret]) {
      assert.ok(!on.service.logged().includes(one.slice('whsec_'.length)));
    }
  });
});

describe('concurrent changes', () => {
  /** The same store, but `run` is called after each read of a subscription. */
  const between = (context: Context, run: () => Promise<void>): Context => ({
    ...context,
    store: {
      ...context.store,
      read: async (verb, input) => {
        const answer = await context.store.read(verb, input);
        if (verb === 'subscription') await run();
        return answer;
      },
    },
  });

  async function subscribed(): Promise<Mounted & { id: string }> {
    const on = await mountContract(ownDocument);
    const response = await fetch(`${on.url}/subscribe`, {
      method: 'POST',
      headers: { 'X-API-Key': on.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ callbackUrl: hook }),
    });
    const { subscriberId } = (await response.json()) as { subscriberId: string };
    return { ...on, id: subscriberId };
  }

  it('are applied one after the other: no rotation is lost', async () => {
    await using on = await subscribed();
    const { context, id } = on;
    const [first] = await getSecrets(context, context.defaultApp, id);
    let looks = 0;
    const bothLooked = Promise.withResolvers<void>();
    const met = between(context, async () => {
      looks += 1;
      if (looks === 2) bothLooked.resolve();
      await bothLooked.promise;
    });
    const rotate = async (): Promise<string[]> => {
      const rotated = await rotateSecret(met, context.defaultApp, { id, overlapMs: 1000 });
      return rotated.map(({ secret }) => secret);
    };
    const chains = await Promise.all([rotate(), rotate()]);
    const [earlier, later] = chains[0]?.[1] === first?.secret ? chains : chains.toReversed();
    assert.equal(earlier?.[1], first?.secret);
    assert.equal(later?.[1], earlier?.[0], 'the later one replaced the earlier one');
    assert.equal(looks, 3, 'the later one read the subscription again');
  });

  it('end in a conflict if others are always faster', async () => {
    await using on = await subscribed();
    const { context, id } = on;
    const app = context.defaultApp;
    let competitors = 0;
    const crowded = between(context, async () => {
      competitors += 1;
      await rotateSecret(context, app, { id, overlapMs: 0 });
    });
    const change = { state: 'paused' as const, callbacks: [], choice: noChoice };
    await assert.rejects(changeSubscription(crowded, app, { id, change }), { code: 'conflict' });
    assert.ok(competitors > 1 && competitors < 10, `gave up after ${competitors} tries`);
    assert.equal((await getSubscription(context, app, id)).state, 'active');
  });
});

describe('the database files', () => {
  it('contain no signing secret and no API key, while the service runs and afterwards', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ringback-sealed-'));
    try {
      const key = 'the-operators-own-key-for-this-database';
      const secrets: string[] = [key];
      {
        await using on = await stage({ RINGBACK_DATA: folder, RINGBACK_API_KEY: key });
        const idempotent = { 'idempotency-key': 'canary-idempotency-key' };
        const { id, secret } = await on.subscribe({ headers: idempotent });
        const query = `callbackUrl=${encodeURIComponent(hook)}&event=e&api_key=${key}`;
        const second = await on.subscribe({
          path: `/subscribe?${query}`,
          key: null,
          body: undefined,
        });
        const rotated = await on.rotate(id);
        const made = await on.service.call({
          method: 'POST',
          path: '/keys',
          body: { name: 'canary name', scopes: ['read'] },
        });
        secrets.push(secret, second.secret, rotated.secret, String(made.json['key']));
        assertSealed(folder, secrets);
      }
      assertSealed(folder, secrets);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

function assertSealed(folder: string, secrets: readonly string[]): void {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const holds = (text: string | Buffer): boolean => files.some((file) => file.includes(text));
  assert.ok(holds('127.0.0.1:9000/hook') && holds('canary name'), 'the search works');
  assert.ok(!holds('whsec_') && !holds('canary-idempotency-key') && !holds('api_key'));
  for (const secret of secrets) {
    assert.ok(!holds(secret), 'as text');
    const bare = secret.replace(/^(?:whsec_|rbk_.{8})/, '');
    assert.ok(!holds(bare), 'without its prefix');
    if (secret.startsWith('whsec_')) assert.ok(!holds(Buffer.from(bare, 'base64')), 'as bytes');
  }
}

describe('Idempotency-Key on subscribe', () => {
  const keyed = (key: string, more: Partial<Call> = {}): Call => ({
    method: 'POST',
    path: '/subscribe',
    body: { callbackUrl: hook },
    headers: { 'Idempotency-Key': key },
    ...more,
  });
  const count = async (on: Stage): Promise<number> => (await on.list('?limit=500')).items.length;

  it('answers the same request with the same response, including the secret', async () => {
    await using on = await stage();
    const variants: Partial<Call>[] = [
      {},
      { body: { successUrl: hook } },
      { path: `/subscribe?callbackUrl=${encodeURIComponent(hook)}&event=e`, body: undefined },
    ];
    for (const [index, variant] of variants.entries()) {
      const first = await on.service.call(keyed(`k${index}`, variant));
      const again = await on.service.call(keyed(`k${index}`, variant));
      assert.ok(first.status === 200 || first.status === 201, first.text);
      assert.deepEqual([again.status, again.text], [first.status, first.text]);
      assert.equal(await count(on), index + 1);
    }
  });

  it('treats a request with the key in another place as the same', async () => {
    await using on = await stage();
    const { key } = on.service;
    const first = await on.service.call(keyed('k'));
    const path = `/subscribe?api_key=${key}`;
    const again = await on.service.call(keyed('k', { path, key: null }));
    assert.deepEqual([again.status, again.text], [first.status, first.text]);
  });

  it('treats a request with an absolute URL, as proxies send it, as the same', async () => {
    await using on = await stage();
    using client = rawClient(on.service.url);
    const first = await on.service.call(keyed('k'));
    const again = await client.send({
      method: 'POST',
      path: 'http://elsewhere.example/subscribe',
      headers: [
        ['X-API-Key', on.service.key],
        ['Idempotency-Key', 'k'],
        ['Content-Type', 'application/json'],
      ],
      body: JSON.stringify({ callbackUrl: hook }),
    });
    assert.deepEqual([again.status, again.text], [first.status, first.text]);
  });

  it('refuses another request under the same key, and registers nothing', async () => {
    await using on = await stage();
    await on.service.call(keyed('k'));
    const others: Partial<Call>[] = [
      { body: { callbackUrl: `${hook}/other` } },
      { body: { callbackUrl: hook, more: 1 } },
      { body: { successUrl: hook } },
      { path: `/subscribe?callbackUrl=${hook}&event=a`, body: undefined },
    ];
    for (const other of others) {
      const answer = await on.service.call(keyed('k', other));
      assertProblem(answer, 422, 'idempotency_mismatch');
      assert.deepEqual(fieldsOf(answer), ['header.Idempotency-Key']);
    }
    assert.equal(await count(on), 1);
  });

  it('creates one subscription for many concurrent requests', async () => {
    await using on = await stage();
    const answers = await Promise.all(
      Array.from({ length: 12 }, async () => on.service.call(keyed('k'))),
    );
    assert.equal(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.equal(await count(on), 1);
  });

  it('accepts one of two different concurrent requests', async () => {
    await using on = await stage();
    const answers = await Promise.all(
      [hook, `${hook}/b`].map(async (callbackUrl) =>
        on.service.call(keyed('k', { body: { callbackUrl } })),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201, 422]));
    assert.equal(await count(on), 1);
  });

  it('expires after 24 hours, whether or not retention runs', async () => {
    await using on = await stage();
    const first = await on.service.call(keyed('k'));
    on.world.advance(dayMs);
    assert.equal((await on.service.call(keyed('k'))).text, first.text);
    on.world.advance(1);
    const fresh = await on.service.call(keyed('k', { body: { callbackUrl: `${hook}/new` } }));
    assert.equal(fresh.status, 201);
    assert.notEqual(fresh.json['subscriberId'], first.json['subscriberId']);
    assert.equal(await count(on), 2);
  });

  it('is not used up by a refused request', async () => {
    await using on = await stage();
    const bad = await on.service.call(keyed('k', { body: { callbackUrl: 'http://10.0.0.1/' } }));
    assert.equal(bad.status, 422);
    assert.equal((await on.service.call(keyed('k', { body: {} }))).status, 400);
    assert.equal((await on.service.call(keyed('k', { key: 'wrong' }))).status, 401);
    assert.equal((await on.service.call(keyed('k'))).status, 201);
  });

  it('belongs to one app', async () => {
    await using on = await stage();
    const made = await on.service.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
    const key = String(made.json['key']);
    const ours = await on.service.call(keyed('k'));
    const theirs = await on.service.call(keyed('k', { key }));
    assert.equal(theirs.status, 201);
    assert.notEqual(theirs.json['subscriberId'], ours.json['subscriberId']);
    assert.notEqual(theirs.json['secret'], ours.json['secret']);
    const other = keyed('k', { key, body: { callbackUrl: `${hook}/x` } });
    assertProblem(await on.service.call(other), 422, 'idempotency_mismatch');
  });

  it('has 1 to 255 characters', async () => {
    await using on = await stage();
    assert.equal((await on.service.call(keyed('k'.repeat(255)))).status, 201);
    assertProblem(await on.service.call(keyed('k'.repeat(256))), 400, 'invalid_request');
    assertProblem(await on.service.call(keyed('')), 400, 'invalid_request');
    assert.equal(await count(on), 1);
  });
});
