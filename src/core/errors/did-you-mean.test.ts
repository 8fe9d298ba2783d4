import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guess, isOneEdit, listed, nearest } from './did-you-mean.ts';

const commands = ['serve', 'listen', 'subscriptions', 'subscribe', 'deliveries', 'key', 'events'];

describe('nearest', () => {
  for (const [word, meant] of [
    ['delivries', 'deliveries'],
    ['delivery', 'deliveries'],
    ['deliv', 'deliveries'],
    ['DELIVERIES', 'deliveries'],
    ['sevre', 'serve'],
    ['lisetn', 'listen'],
    ['keys', 'key'],
    ['subscription', 'subscriptions'],
    ['subs', 'subscribe'],
    ['event', 'events'],
  ] as const) {
    it(`of "${word}" is "${meant}"`, () => assert.equal(nearest(word, commands), meant));
  }

  for (const word of ['', 'x', 'frobnicate', 'constructor', '__proto__', 'k'.repeat(100_000)]) {
    it(`of "${word.slice(0, 12)}" is nothing`, () =>
      assert.equal(nearest(word, commands), undefined));
  }
});

describe('isOneEdit', () => {
  for (const [from, to, expected] of [
    ['order.created', 'order.creatd', true],
    ['order.created', 'order.createdd', true],
    ['order.created', 'xorder.created', true],
    ['order.created', 'Order.created', true],
    ['order.created', 'order.craeted', true],
    ['order.created', 'order.createde', true],
    ['ab', 'ba', true],
    ['', 'a', true],
    ['order.created', 'order.created', false],
    ['order.created', 'order.creat', false],
    ['order.created', 'ordre.craeted', false],
    ['order.created', 'roder.creatdd', false],
    ['abc', 'cba', false],
    ['abcd', 'badc', false],
    ['', 'ab', false],
  ] as const) {
    it(`${expected ? 'leads' : 'does not lead'} from "${from}" to "${to}"`, () => {
      assert.deepEqual([isOneEdit(from, to), isOneEdit(to, from)], [expected, expected]);
    });
  }
});

describe('guess', () => {
  it('names the nearest word, or all of them', () => {
    assert.equal(guess('raed', ['read', 'admin']), 'did you mean "read"?');
    assert.equal(guess('root', ['subscribe', 'admin', 'x']), 'expected subscribe, admin or x');
    assert.equal(listed(['one']), 'one');
  });
});
