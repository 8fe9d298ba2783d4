// A store that is down, or does not answer at all: every caller gets a response in time, and never a 2xx.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { openStore } from '../../src/store/open/open.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { virtualWorld, type VirtualWorld } from '../engine/virtual-world.ts';
import { start, type Answer, type Call, type Running } from './harness.ts';

const answerMs = 3_000;
const keyAnswerMs = answerMs * limits.keyTimeoutShare;

type Mood = 'well' | 'silent' | 'down';

interface Stage extends AsyncDisposable {
  world: VirtualWorld;
  service: Running;
  be: (mood: Mood) => void;
  /** Resolves when an unhealthy store is called again. */
  asked: () => Promise<void>;
  /** The response to a call that must come exactly this long after the store was called in vain. */
  answerAfter: (ms: number, call: Call) => Promise<Answer>;
}

async function stage(): Promise<Stage> {
  const world = virtualWorld();
  let mood: Mood = 'well';
  let asked = Promise.withResolvers<void>();
  const moody = (store: Store): Store => {
    const inMood = async <T>(ask: () => Promise<T>): Promise<T> => {
      if (mood === 'well') return ask();
      asked.resolve();
      if (mood === 'silent') return new Promise<never>(() => undefined);
      throw new StoreUnavailable('connect ECONNREFUSED postgres://u:CANARY@h/db');
    };
    return {
      ...store,
      edit: async (verb, input) => inMood(async () => store.edit(verb, input)),
      read: async (verb, input) => inMood(async () => store.read(verb, input)),
    };
  };
  const service = await start({
    world,
    env: { RINGBACK_STORE_TIMEOUT: `${answerMs}ms` },
    openStore: async (given) => moody(await openStore(given)),
  });
  return {
    world,
    service,
    be: (next) => {
      mood = next;
    },
    asked: async () => {
      asked = Promise.withResolvers();
      return asked.promise;
    },
    answerAfter: async (ms, call) => {
      asked = Promise.withResolvers();
      let isAnswered = false;
      const answer = service.call(call).finally(() => (isAnswered = true));
      await asked.promise;
      await world.pass(ms - 1);
      await service.call({ path: '/healthz' }); // A response would have arrived before this one.
      assert.equal(isAnswered, false, `answered before ${ms} ms`);
      await world.pass(1);
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      mood = 'well';
      const stop = { isOver: false };
      const stopping = service[Symbol.asyncDispose]().then(() => (stop.isOver = true));
      // A heartbeat sent while the store was silent is never answered, so the stop runs into its time limit.
      while (!stop.isOver) await world.pass(limits.storeAnswerMs);
      await stopping;
    },
  };
}

const publish: Call = {
  method: 'POST',
  path: '/events',
  body: { event: 'order.created', payload: { message: 'hello' } },
};

function said(answer: Answer, pattern: RegExp): void {
  assert.deepEqual(
    [answer.status, answer.json['code'], answer.headers.get('retry-after')],
    [503, 'store_unavailable', '1'],
  );
  assert.match(String(answer.json['detail']), pattern);
  assert.doesNotMatch(answer.text, /CANARY|postgres/);
}

describe('a store that does not answer', () => {
  it('fails a publish in time, with a warning that a repeat may publish it twice', async () => {
    await using on = await stage();
    assert.equal((await on.service.call(publish)).status, 202);
    on.be('silent');
    said(
      await on.answerAfter(answerMs, publish),
      /may have been accepted.*without an Idempotency-Key/,
    );
    on.be('well');
    assert.equal((await on.service.call(publish)).status, 202, 'it recovers by itself');
  });

  const id = 'sub_01jc4t6v8m3q5r7w9x1y2z3a4b';
  const asksToWrite: Call[] = [
    { ...publish, headers: { 'idempotency-key': 'k1' } },
    { method: 'POST', path: '/subscribe', body: { callbackUrl: 'http://127.0.0.1:9000/' } },
    { method: 'POST', path: `/unsubscribe?Id=${id}` },
  ];
  const asksToRead: Call[] = [
    { method: 'PATCH', path: `/subscriptions/${id}`, body: { state: 'paused' } },
    { path: '/events' },
    { path: '/deliveries' },
    { path: '/nodes' },
  ];
  for (const call of [...asksToWrite, ...asksToRead]) {
    it(`fails ${call.method ?? 'GET'} ${call.path} in time as well`, async () => {
      await using on = await stage();
      assert.equal((await on.service.call(publish)).status, 202, 'the key is cached now');
      on.be('silent');
      said(
        await on.answerAfter(answerMs, call),
        asksToWrite.includes(call) ? /The request may still be processed/ : /Nothing was changed/,
      );
    });
  }

  it('answers a caller whose key is not cached within five seconds in total', async () => {
    assert.ok(keyAnswerMs + answerMs <= 5_000);
    await using on = await stage();
    on.be('silent');
    said(await on.answerAfter(keyAnswerMs, publish), /did not respond in time/);
  });

  it('makes the node unready within two seconds', async () => {
    await using on = await stage();
    on.be('silent');
    assert.ok(limits.readyAnswerMs <= 2_000);
    said(
      await on.answerAfter(limits.readyAnswerMs, { path: '/readyz', key: null }),
      /The node ".*" \(all\) is not ready: the store does not respond/,
    );
  });
});

describe('a store that is down', () => {
  it('fails a publish at once, without details of the database', async () => {
    await using on = await stage();
    assert.equal((await on.service.call(publish)).status, 202);
    on.be('down');
    said(await on.service.call(publish), /The request was not accepted/);
    said(await on.service.call({ path: '/readyz', key: null }), /the store does not respond/);
    assert.equal((await on.service.call({ path: '/healthz', key: null })).status, 200);
  });
});

describe('a node whose heartbeats do not arrive', () => {
  it('is not ready, until one does', async () => {
    await using on = await stage();
    on.world.freeze(limits.nodeFreshMs + 1);
    const probe = { path: '/readyz', key: null };
    said(await on.service.call(probe), /is not ready: no heartbeat has reached the store/);
    await on.world.pass(limits.heartbeatEveryMs);
    assert.equal((await on.service.call(probe)).status, 200);
  });
});

describe('a scrape of metrics', () => {
  const scrape: Call = { path: '/metrics' };
  const upOf = ({ text }: Answer): string | undefined =>
    /^ringback_store_up (.*)$/m.exec(text)?.[1];

  it('reports in time that the store does not respond, and omits the metrics read from it', async () => {
    await using on = await stage();
    const before = await on.service.call(scrape);
    assert.equal(upOf(before), '1');
    assert.match(before.text, /^ringback_cluster_nodes/m);
    on.be('silent');
    await on.world.pass(limits.scrapeKeepMs);
    const key = on.asked();
    const scraped = on.service.call(scrape);
    await key;
    const gauges = on.asked();
    await on.world.pass(keyAnswerMs);
    await Promise.race([gauges, scraped]);
    await on.world.pass(limits.scrapeAnswerMs);
    const answer = await scraped;
    assert.deepEqual([answer.status, upOf(answer)], [200, '0']);
    assert.match(answer.text, /^ringback_build_info/m);
    assert.doesNotMatch(answer.text, /^ringback_cluster_/m);
  });

  it('refuses other keys meanwhile: those that were never used for it, or not recently', async () => {
    await using on = await stage();
    const body = { name: 'scraper', scopes: ['operator'] };
    const { json } = await on.service.call({ method: 'POST', path: '/keys', body });
    const key = String(json['key']);
    assert.equal(upOf(await on.service.call(scrape)), '1');
    on.be('down');
    await on.world.pass(limits.scrapeKeepMs);
    assert.equal(upOf(await on.service.call(scrape)), '0');
    said(await on.service.call({ ...scrape, key }), /./);
    on.world.freeze(limits.scrapeKeyMs);
    said(await on.service.call(scrape), /./);
    on.be('well');
    assert.equal(upOf(await on.service.call(scrape)), '1');
  });
});
