import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guess, listed, nearest } from './did-you-mean.ts';

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

describe('guess', () => {
  it('names the nearest word, or all of them', () => {
    assert.equal(guess('raed', ['read', 'admin']), 'did you mean "read"?');
    assert.equal(guess('root', ['subscribe', 'admin', 'x']), 'expected subscribe, admin or x');
    assert.equal(listed(['one']), 'one');
  });
});
