import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lane } from '../../../../test/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import { type ListenerCache, type Hearers, createListenerCache } from './match.ts';

/** The matching callbacks of one app: a fingerprint by lane. */
const heardBy = (version: number, prints: Readonly<Record<number, string>>): Hearers => ({
  appNo: 1,
  version,
  listeners: Object.entries(prints).map(([no, print]) => {
    return { callback: Number(no), lane: lane({ no: Number(no) }), filteredBy: undefined, print };
  }),
});

/** Often enough to be steady. */
const often = limits.heardSteadyTimes + 1;

function learnOften(heard: ListenerCache, name: string, hearers: () => Hearers): void {
  for (let times = 0; times < often; times += 1) heard.learn(name, hearers());
}

describe('createHeardBefore', () => {
  it('is steady about a name after several equal answers in a row', () => {
    const heard = createListenerCache();
    for (let times = 0; times < often; times += 1) {
      assert.equal(heard.steady(['a']), undefined);
      heard.learn('a', heardBy(3, { 7: 'x', 8: 'y' }));
    }
    assert.deepEqual(heard.steady(['a']), {
      hearers: [heardBy(3, { 7: 'x', 8: 'y' })],
      versions: new Map([[1, 3]]),
      prints: new Map([
        [7, 'x'],
        [8, 'y'],
      ]),
    });
    assert.equal(heard.steady(['a', 'b']), undefined, 'nothing is known of the other one');
  });

  for (const [what, after] of [
    ['a version', heardBy(4, { 7: 'x' })],
    ['a print', heardBy(3, { 7: 'y' })],
    ['a lane', heardBy(3, { 8: 'x' })],
    ['one listener more', heardBy(3, { 7: 'x', 8: 'x' })],
    ['one listener less', heardBy(3, {})],
  ] as const) {
    it(`is not steady after ${what}`, () => {
      const heard = createListenerCache();
      learnOften(heard, 'a', () => heardBy(3, { 7: 'x' }));
      heard.learn('a', after);
      assert.equal(heard.steady(['a']), undefined);
      learnOften(heard, 'a', () => after);
      assert.deepEqual(heard.steady(['a'])?.hearers, [after]);
    });
  }

  it('is not steady after forget', () => {
    const heard = createListenerCache();
    learnOften(heard, 'a', () => heardBy(3, {}));
    heard.forget(['a']);
    assert.equal(heard.steady(['a']), undefined);
  });

  it('is not steady about names learned at different times that contradict each other', () => {
    const heard = createListenerCache();
    learnOften(heard, 'a', () => heardBy(3, { 7: 'x' }));
    learnOften(heard, 'newer', () => heardBy(4, {}));
    learnOften(heard, 'other lane', () => heardBy(3, { 7: 'y' }));
    learnOften(heard, 'alike', () => heardBy(3, { 7: 'x', 8: 'y' }));
    assert.equal(heard.steady(['a', 'newer']), undefined);
    assert.equal(heard.steady(['a', 'other lane']), undefined);
    assert.equal(heard.steady(['a', 'alike'])?.prints.size, 2);
  });

  it('evicts the oldest name when there are too many, and keeps no long list', () => {
    const heard = createListenerCache();
    learnOften(heard, 'first', () => heardBy(1, {}));
    learnOften(heard, 'second', () => heardBy(1, {}));
    for (let name = 0; name < limits.heardNamesMax - 1; name += 1) {
      heard.learn(`${name}`, heardBy(1, {}));
    }
    assert.equal(heard.steady(['first']), undefined);
    assert.notEqual(heard.steady(['second']), undefined);
    const many = Array.from({ length: limits.heardListenersMax + 1 }, (_, no) => [no, 'x']);
    learnOften(heard, 'many', () => heardBy(1, Object.fromEntries(many)));
    assert.equal(heard.steady(['many']), undefined);
  });
});
