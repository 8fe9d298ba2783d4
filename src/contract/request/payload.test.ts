import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { limits } from '../../core/limits/limits.ts';
import { bounds } from '../document/bounds.ts';
import { compileContract } from '../compile/compile.ts';
import { loadContract } from '../compile/load.ts';
import { makeOrder, orderSchemas } from '../../../bench/parts/sample-order.ts';
import { readRequest } from './request.ts';
import { definitionsOf, matchingCallbacks, checkPayload } from './payload.ts';

/** A payload that is accepted and reaches every callback of the event. */
const fits = { faults: [], skipped: [] };
const ours = await loadContract(join(import.meta.dirname, '..', '..', '..', 'openapi.yaml'));

/**
 * A contract with one callback per event pattern, whose schema requires a property of that name.
 */
function contractWith(
  events: Readonly<Record<string, string>>,
  more: Readonly<Record<string, object>> = {},
): ReturnType<typeof compileContract> {
  const callbacks: [string, object][] = Object.entries(events).map(([label, event]) => [
    label,
    {
      '{$request.body#/url}': {
        'x-ringback-event': event,
        post: {
          requestBody: {
            content: { 'application/json': { schema: { type: 'object', required: [label] } } },
          },
          responses: { 200: { description: 'ok' } },
        },
      },
    },
  ]);
  for (const [label, item] of Object.entries(more)) {
    callbacks.push([label, { '{$request.body#/url}': { 'x-ringback-event': 'x', ...item } }]);
  }
  const body = {
    content: {
      'application/json': { schema: { type: 'object', properties: { url: { type: 'string' } } } },
    },
  };
  const post = {
    operationId: 'hook',
    requestBody: body,
    responses: { 201: { description: 'made' } },
    callbacks: Object.fromEntries(callbacks),
  };
  const root = {
    openapi: '3.0.4',
    info: { title: 't', version: '1' },
    paths: { '/hook': { post } },
  };
  return compileContract({ path: 'test.yaml', root });
}

describe('hearing', () => {
  it('finds callbacks by name, by prefix and by *, in the order of the document', () => {
    const contract = contractWith({ a: 'order.created', b: 'order.*', c: '*', d: 'other' });
    const labels = (event: string): string[] =>
      matchingCallbacks(contract, event).map(({ label }) => label);
    assert.deepEqual(labels('order.created'), ['a', 'b', 'c']);
    assert.deepEqual(labels('order.item.created'), ['b', 'c']);
    assert.deepEqual(labels('order'), ['c']);
    assert.deepEqual(labels('other'), ['c', 'd']);
  });

  it('matches the literal text around an expression', () => {
    const contract = contractWith({
      a: 'order.{$request.body#/url}',
      b: '{$request.body#/url}.created',
      c: 'order.{$request.body#/url}.created',
      d: '{$request.body#/url}.*',
      e: 'order.{$request.body#/url}.*',
    });
    const labels = (event: string): string =>
      matchingCallbacks(contract, event)
        .map(({ label }) => label)
        .join('');
    assert.equal(labels('order.item.created'), 'abcde');
    assert.equal(labels('order.created'), 'abd');
    assert.equal(labels('other.created'), 'bd');
    assert.equal(labels('orders'), '');
    assert.equal(labels('other.item.paid'), 'd');
  });

  it('finds a few among thousands', () => {
    const events = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`c${at}`, `e${at}`]),
    );
    const contract = contractWith({ ...events, all: '*' });
    assert.deepEqual(
      matchingCallbacks(contract, 'e2999').map(({ label }) => label),
      ['c2999', 'all'],
    );
    assert.deepEqual(checkPayload(contract, 'e2999', { c2999: 1, all: 1 }), fits);
    assert.equal(checkPayload(contract, 'e2999', {}).faults.length, 2);
  });

  it('includes a callback whose event comes from the request, since it may match anything', () => {
    assert.equal(matchingCallbacks(ours, 'whatever').length, 2);
    assert.equal(matchingCallbacks(ours, 'inProgress').length, 3);
    assert.equal(definitionsOf(ours).length, 5);
  });

  it('excludes patterns whose literal text cannot match, whatever the request', () => {
    const contract = contractWith({
      a: 'order.{$request.body#/url}',
      b: '{$request.body#/url}.created',
      c: 'a{$request.body#/url}.b.{$request.body#/url}c',
      d: '{$request.body#/url}.*',
    });
    const labels = (event: string): string => {
      const heard = matchingCallbacks(contract, event).map(({ label }) => label);
      return heard.join('');
    };
    assert.equal(labels('order.created'), 'abd');
    assert.equal(labels('order.a.b'), 'ad');
    assert.equal(labels('user.created'), 'bd');
    assert.equal(labels('border.x'), 'd', 'and not in the middle of it');
    assert.equal(labels('created.x'), 'd');
    assert.equal(labels('ax.b.xc'), 'cd');
    assert.equal(labels('a.b.c'), 'cd');
    assert.equal(labels('a.bc'), 'd', 'and no character counts twice');
    assert.equal(labels('orders'), '', 'nothing before the dot');
  });
});

describe('checkPayload', () => {
  it('accepts a payload that matches every callback of the event', () => {
    assert.deepEqual(checkPayload(ours, 'order.created', { message: 'hi', more: [1] }), fits);
  });

  it('names the callback, the place and the rule', () => {
    const { faults } = checkPayload(ours, 'order.created', { message: 5 });
    const [fault, ...others] = faults;
    assert.deepEqual(fault, {
      callback: 'myEvent',
      field: '/message',
      message: 'must be a string, is a number',
    });
    assert.deepEqual(others, []);
  });

  it('refuses what fits no callback of the event, subscribed or not, and says why of each', () => {
    const contract = contractWith({ a: 'order.created', b: 'order.*', c: 'other' });
    const { faults } = checkPayload(contract, 'order.created', {});
    assert.deepEqual(
      faults.map(({ callback, field }) => [callback, field]),
      [
        ['a', '/a'],
        ['b', '/b'],
      ],
    );
  });

  it('accepts what fits one callback of the event, and skips those that it does not fit', () => {
    const contract = contractWith({ a: 'order.created', b: 'order.*', c: 'other' });
    const skippedFor = (payload: unknown): unknown => {
      const { faults, skipped } = checkPayload(contract, 'order.created', payload);
      assert.deepEqual(faults, []);
      return skipped;
    };
    const definition = 'b {$request.body#/url} POST';
    const reason = '/b is required';
    assert.deepEqual(skippedFor({ a: 1 }), [{ operation: 'hook', definition, reason }]);
    assert.equal(JSON.stringify(skippedFor({ b: 1 })).includes('"a {$request'), true);
    assert.deepEqual(skippedFor({ a: 1, b: 1 }), []);
  });

  it('does not skip a callback without a schema, which accepts any payload', () => {
    const free = { post: { responses: {} } };
    const contract = contractWith({ a: 'x' }, { free });
    const { faults, skipped } = checkPayload(contract, 'x', {});
    assert.deepEqual([faults, skipped.length], [[], 1]);
  });

  it('refuses what fits no callback with a body, even if another has no body', () => {
    const contract = contractWith({ a: 'x' }, { free: { get: { responses: {} } } });
    assert.equal(checkPayload(contract, 'x', {}).faults.length, 1);
    assert.deepEqual(checkPayload(contract, 'x', { a: 1 }), fits);
  });

  it('refuses, and skips nothing, when the work for the check runs out', () => {
    const contract = contractWith({ a: 'x', b: 'x' });
    const spent = { left: 0 };
    const { faults, skipped } = checkPayload(contract, 'x', { a: 1 }, spent);
    assert.match(faults[0]?.message ?? '', /take more than/);
    assert.deepEqual(skipped, []);
  });

  it('handles many event names', () => {
    const contract = contractWith({ a: 'x.*', b: '*' });
    assert.deepEqual(
      checkPayload(contract, 'x.y', {}).faults.map(({ callback }) => callback),
      ['a', 'b'],
    );
    for (let n = 0; n < 3 * bounds.eventNamesKeptMax; n += 1) {
      assert.equal(checkPayload(contract, `x.e${n}`, {}).faults.length, 2);
    }
  });

  it('accepts any payload of an event that no callback matches', () => {
    assert.deepEqual(checkPayload(contractWith({ a: 'x' }), 'y', 'anything'), fits);
  });
});

describe('the step limit of a request', () => {
  const event = 'order.created';
  const order = Object.assign({}, makeOrder());

  it('lets the largest batch of ordinary events pass, of our contract and of one with a detailed schema', () => {
    const callback = contractWith({ message: event });
    const detailed = compileContract({
      path: 'orders.json',
      root: {
        ...rootOf({ $ref: '#/components/schemas/Order' }),
        components: { schemas: orderSchemas },
      },
    });
    for (const contract of [ours, callback, detailed]) {
      const work = { left: bounds.requestStepsMax };
      for (let n = 0; n < limits.batchEventsMax; n += 1) {
        assert.deepEqual(checkPayload(contract, event, order, work), fits);
      }
      assert.ok(work.left > 0.2 * bounds.requestStepsMax, `${work.left} steps left`);
    }
  });

  it('lets the request with such a batch pass', () => {
    const operation = ours.operations.find(({ operationId }) => operationId === 'publishEvents');
    assert.ok(operation);
    for (const count of [100, limits.batchEventsMax]) {
      const value = { events: Array.from({ length: count }, () => ({ event, payload: order })) };
      const none = new Map<string, string>();
      const body = { mediaType: 'application/json', value };
      const raw = { path: none, query: [], header: none, cookie: none, body };
      assert.equal(readRequest(operation, raw).kind, 'valid');
    }
  });
});

function rootOf(schema: unknown): object {
  const post = {
    parameters: [{ name: 'url', in: 'query', schema: { type: 'string' } }],
    responses: { 201: { description: 'made' } },
    callbacks: {
      hook: {
        '{$request.query.url}': {
          'x-ringback-event': 'order.created',
          post: {
            requestBody: { content: { 'application/json': { schema } } },
            responses: { 200: { description: 'ok' } },
          },
        },
      },
    },
  };
  const info = { title: 'orders', version: '1' };
  return { openapi: '3.1.0', info, paths: { '/hook': { post } } };
}
