import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lane } from '../../../../test/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { type ListenerCache, type NameListeners, createListenerCache } from './match.ts';

/** The matching callbacks of one app: a fingerprint by lane. */
const matching = (version: number, prints: Readonly<Record<number, string>>): NameListeners => ({
  appNo: 1,
  version,
  listeners: Object.entries(prints).map(([no, print]) => {
    return { callback: Number(no), lane: lane({ no: Number(no) }), filteredBy: undefined, print };
  }),
});

/** Often enough to be steady. */
const often = limits.listenerCacheSteadyTimes + 1;

function learnOften(cache: ListenerCache, name: string, matched: () => NameListeners): void {
  for (let times = 0; times < often; times += 1) cache.learn(name, matched());
}

describe('createHeardBefore', () => {
  it('is steady about a name after several equal answers in a row', () => {
    const cache = createListenerCache();
    for (let times = 0; times < often; times += 1) {
      assert.equal(cache.steady(['a']), undefined);
      cache.learn('a', matching(3, { 7: 'x', 8: 'y' }));
    }
    assert.deepEqual(cache.steady(['a']), {
      matched: [matching(3, { 7: 'x', 8: 'y' })],
      versions: new Map([[1, 3]]),
      prints: new Map([
        [7, 'x'],
        [8, 'y'],
      ]),
    });
    assert.equal(cache.steady(['a', 'b']), undefined, 'nothing is known of the other one');
  });

  for (const [what, after] of [
    ['a version', matching(4, { 7: 'x' })],
    ['a print', matching(3, { 7: 'y' })],
    ['a lane', matching(3, { 8: 'x' })],
    ['one listener more', matching(3, { 7: 'x', 8: 'x' })],
    ['one listener less', matching(3, {})],
  ] as const) {
    it(`is not steady after ${what}`, () => {
      const cache = createListenerCache();
      learnOften(cache, 'a', () => matching(3, { 7: 'x' }));
      cache.learn('a', after);
      assert.equal(cache.steady(['a']), undefined);
      learnOften(cache, 'a', () => after);
      assert.deepEqual(cache.steady(['a'])?.matched, [after]);
    });
  }

  it('is not steady after forget', () => {
    const cache = createListenerCache();
    learnOften(cache, 'a', () => matching(3, {}));
    cache.forget(['a']);
    assert.equal(cache.steady(['a']), undefined);
  });

  it('is not steady about names learned at different times that contradict each other', () => {
    const cache = createListenerCache();
    learnOften(cache, 'a', () => matching(3, { 7: 'x' }));
    learnOften(cache, 'newer', () => matching(4, {}));
    learnOften(cache, 'other lane', () => matching(3, { 7: 'y' }));
    learnOften(cache, 'alike', () => matching(3, { 7: 'x', 8: 'y' }));
    assert.equal(cache.steady(['a', 'newer']), undefined);
    assert.equal(cache.steady(['a', 'other lane']), undefined);
    assert.equal(cache.steady(['a', 'alike'])?.prints.size, 2);
  });

  it('evicts the oldest name when there are too many, and keeps no long list', () => {
    const cache = createListenerCache();
    learnOften(cache, 'first', () => matching(1, {}));
    learnOften(cache, 'second', () => matching(1, {}));
    for (let name = 0; name < limits.listenerCacheNamesMax - 1; name += 1) {
      cache.learn(`${name}`, matching(1, {}));
    }
    assert.equal(cache.steady(['first']), undefined);
    assert.notEqual(cache.steady(['second']), undefined);
    const many = Array.from({ length: limits.listenerCacheListenersMax + 1 }, (_, no) => [no, 'x']);
    learnOften(cache, 'many', () => matching(1, Object.fromEntries(many)));
    assert.equal(cache.steady(['many']), undefined);
  });
});
