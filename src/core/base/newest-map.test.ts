import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fc } from '../../../test/fast-check.ts';
import { NewestMap } from './newest-map.ts';

describe('NewestMap', () => {
  it('keeps the newest entries', () => {
    const map = new NewestMap<number, string>(3);
    for (let n = 1; n <= 5; n += 1) map.set(n, `v${n}`);
    assert.deepEqual([...map.keys()], [3, 4, 5]);
    assert.equal(map.get(5), 'v5');
  });

  type Step = { kind: 'set' | 'delete'; key: number } | { kind: 'clear' };
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('set'), key: fc.nat(30) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete'), key: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'clear' }) },
  );
  it('behaves like a map that drops its first key when it is full', () => {
    const property = fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step), (most, steps) => {
      const map = new NewestMap<number, number>(most);
      const plain = new Map<number, number>();
      for (const [at, one] of steps.entries()) {
        if (one.kind === 'clear') {
          map.clear();
          plain.clear();
        } else if (one.kind === 'delete') {
          assert.equal(map.delete(one.key), plain.delete(one.key));
        } else {
          map.set(one.key, at);
          plain.set(one.key, at);
          const [first] = plain.keys();
          if (plain.size > most && first !== undefined) plain.delete(first);
        }
        assert.deepEqual([...map], [...plain]);
      }
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  it('does not retain dropped entries', () => {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    assert(typeof collect === 'function');
    const map = new NewestMap<number, number>(100);
    for (let n = 0; n < 200; n += 1) map.set(n, n);
    const heldBytes = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = heldBytes();
    for (let n = 0; n < 300_000; n += 1) {
      map.delete(199);
      map.set(199, n);
    }
    const more = heldBytes() - before;
    assert(more < 5_000_000, `${more} bytes more, expected none`);
    assert.equal(map.size, 100);
  });
});
