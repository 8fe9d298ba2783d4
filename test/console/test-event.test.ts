// The test event matches the subscription and has an example payload that the contract accepts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Callback, Subscription } from '../../src/client/contract/subscription.ts';
import type { EventType } from '../../console/src/events/event-types.ts';
import { nameFor, testEvent } from '../../console/src/test-event.ts';

const declared = { source: 'callback', state: 'active' } as const;
const types: EventType[] = [
  {
    event: '{$request.query.event}',
    callback: 'one',
    contract: 'A',
    ...declared,
    example: { from: 'template' },
  },
  { event: '*', callback: 'all', contract: 'A', ...declared, example: { from: 'all' } },
  { event: 'order.*', callback: 'orders', contract: 'B', ...declared, example: { from: 'orders' } },
];

function subscriptionTo(contract: string, label: string, event: string): Subscription {
  const callbacks = [
    { ...one('x', 'never'), position: 0, inactive: 'no target' },
    { ...one(label, event), position: 1, url: 'https://a.example/' },
  ];
  const createdAt = '2026-11-02T10:00:00Z';
  const rest = { ordered: false, callbacks, createdAt };
  return { id: 'sub_1', state: 'active', contract, operation: 'x', ...rest };
}

function one(label: string, event: string): Omit<Callback, 'position'> {
  return { label, event, events: [event], method: 'POST' };
}

describe('testEvent', () => {
  it('matches the active callback of the subscription', () => {
    const event = testEvent(types, subscriptionTo('B', 'orders', 'order.*'));
    assert.deepEqual(event, {
      event: 'order.test',
      payload: { from: 'orders' },
      contract: 'B',
      subscriberId: 'sub_1',
    });
  });
  it('uses the example of a template whose event name is known', () => {
    const event = testEvent(types, subscriptionTo('A', 'one', 'invoice.sent'));
    assert.deepEqual(event, {
      event: 'invoice.sent',
      payload: { from: 'template' },
      contract: 'A',
      subscriberId: 'sub_1',
    });
  });
  it('uses an event of the contract without a subscription', () => {
    assert.deepEqual(testEvent(types, undefined), {
      event: 'test.event',
      payload: { from: 'all' },
      contract: 'A',
      subscriberId: undefined,
    });
    assert.equal(testEvent([], undefined).event, 'test.event');
  });
});

describe('nameFor', () => {
  it('makes a name that the pattern matches', () => {
    assert.deepEqual(['*', 'a.b.*', 'a.b', '{$x}'].map(nameFor), [
      'test.event',
      'a.b.test',
      'a.b',
      'test.event',
    ]);
  });
});
