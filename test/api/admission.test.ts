// More than can be done at once, over real sockets, with a store that says nothing for a while and a clock
// that stands still: who is turned away, with what answer, and who is not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits.ts';
import { openStore } from '../../src/store/open.ts';
import { Tally } from '../e2e/tally.ts';
import { frozenWorld } from './frozen-world.ts';
import { start, type Answer, type Call, type Started } from './harness.ts';

interface Stage extends AsyncDisposable {
  service: Started;
  /** So many publishes that no more are let in; their answers come when the store goes on. */
  flood: () => Promise<Promise<Answer>[]>;
  goOn: () => void;
}

const publish: Call = {
  method: 'POST',
  path: '/events',
  body: { event: 'order.created', payload: { message: 'hello' } },
};

async function stage(): Promise<Stage> {
  const asked = new Tally('publishes have reached the store');
  const silence = Promise.withResolvers<void>();
  let isSilent = false;
  const service = await start({
    world: frozenWorld(),
    openStore: async (options) => {
      const store = await openStore(options);
      return {
        ...store,
        edit: async (verb, input) => {
          if (isSilent && verb === 'publish') {
            asked.add();
            await silence.promise;
          }
          return store.edit(verb, input);
        },
      };
    },
  });
  return {
    service,
    flood: async () => {
      assert.equal((await service.call(publish)).status, 202, 'its key is known now');
      isSilent = true;
      const most = limits.publishesUnderWayStart;
      const answers = Array.from({ length: most }, async () => service.call(publish));
      await asked.reach(most);
      return answers;
    },
    goOn: () => silence.resolve(),
    [Symbol.asyncDispose]: async () => {
      silence.resolve();
      await service[Symbol.asyncDispose]();
    },
  };
}

describe('a node with more to do than it can do', () => {
  it('503: turns publishes away at once, and takes them again afterwards', async () => {
    await using on = await stage();
    const admitted = await on.flood();
    const refused = await on.service.call({ ...publish, headers: { 'x-request-id': 'mine' } });
    const { status, headers, json } = refused;
    assert.deepEqual([status, json['code'], json['requestId']], [503, 'overloaded', 'mine']);
    assert.equal(headers.get('content-type'), 'application/problem+json');
    assert.equal(headers.get('retry-after'), '1');
    assert.equal(headers.get('x-request-id'), 'mine');
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal((await on.service.call({ ...publish, key: null })).status, 503, 'no key is read');
    on.goOn();
    for (const answer of await Promise.all(admitted)) assert.equal(answer.status, 202);
    assert.equal((await on.service.call(publish)).status, 202);
    const { text } = await on.service.call({ path: '/metrics' });
    assert.match(text, /ringback_refusals_total\{[^}]*publishEvent"[^}]*overloaded"\} 2\n/);
    assert.match(text, /ringback_admission_publish_limit 256\n/);
    assert.match(on.service.logged(), /"turnedAway":1,.*"msg":"overloaded"/);
  });

  it('still answers probes, reads, and whoever unsubscribes', async () => {
    await using on = await stage();
    const body = { callbackUrl: 'http://127.0.0.1:9000/' };
    const { json } = await on.service.call({ method: 'POST', path: '/subscribe', body });
    const admitted = await on.flood();
    const status = async (call: Call): Promise<number> => (await on.service.call(call)).status;
    assert.equal(await status({ path: '/healthz', key: null }), 200);
    assert.equal(await status({ path: '/readyz', key: null }), 200);
    assert.equal(await status({ path: '/subscriptions' }), 200);
    assert.equal(await status({ path: '/stats' }), 200);
    const path = `/unsubscribe?Id=${String(json['subscriberId'])}`;
    assert.equal(await status({ method: 'POST', path }), 200);
    assert.equal(await status(publish), 503);
    on.goOn();
    await Promise.all(admitted);
  });
});
