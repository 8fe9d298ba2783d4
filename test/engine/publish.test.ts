import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileContract } from '../../src/contract/compile/compile.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { noQuotas } from '../../src/core/load/quotas.ts';
import type { Context } from '../../src/engine/context.ts';
import { publish } from '../../src/engine/publish/publish.ts';
import type { NewEvent } from '../../src/engine/publish/validate-events.ts';

const schema = { type: 'object', required: ['message'] };
const contract = compileContract({
  path: 'test.yaml',
  root: {
    openapi: '3.1.0',
    info: { title: 't', version: '1' },
    paths: {
      '/hook': {
        post: {
          parameters: [{ name: 'url', in: 'query', schema: { type: 'string' } }],
          responses: { 201: { description: 'made' } },
          callbacks: {
            e: {
              '{$request.query.url}': {
                post: { requestBody: { content: { 'application/json': { schema } } } },
              },
            },
          },
        },
      },
    },
  },
});

/** Publishes events that report when they are checked. */
async function publishCounted(count: number, onCheck: () => void): Promise<void> {
  const value = {
    get message() {
      onCheck();
      return 'm';
    },
  };
  const event: NewEvent = { name: 'e', value, payload: new Uint8Array(2), at: 'body#' };
  const context = {
    newId: () => 'id',
    quotas: { of: () => ({}), spend: () => ({}), giveBack: () => undefined },
    store: { edit: async () => ({ kind: 'accepted', events: [] }) },
    changes: { published: () => undefined },
  } as unknown as Context;
  const rules = { contracts: [contract], isLenient: false };
  await publish(context, rules, {
    app: { no: 1, id: 'app', quotas: noQuotas },
    contract: undefined,
    events: Array.from({ length: count }, () => event),
    subscriberId: undefined,
    idempotency: undefined,
    hops: 0,
  });
}

/** How many turns of the event loop begin between the first and the last check. */
async function turnsOf(count: number): Promise<number> {
  let [turns, first, last] = [0, -1, -1];
  const turn = (): void => {
    turns += 1;
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  await publishCounted(count, () => {
    if (first < 0) first = turns;
    last = turns;
  });
  clearImmediate(immediate);
  return last - first;
}

describe('publish', () => {
  it('yields to other requests while it checks a large batch', async () => {
    const parts = limits.batchEventsMax / limits.eventsCheckedAtOnce;
    assert.ok((await turnsOf(limits.batchEventsMax)) >= parts - 1);
  });

  it('checks a small batch, and a single event, at once', async () => {
    assert.equal(await turnsOf(limits.eventsCheckedAtOnce), 0);
    assert.equal(await turnsOf(1), 0);
  });
});
