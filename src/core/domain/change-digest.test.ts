import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import {
  emptyDigest,
  mergeDigests,
  newest,
  noCounts,
  readDigest,
  writeDigest,
  type Digest,
} from './change-digest.ts';
import { limits } from '../limits/limits.ts';

const name = fc
  .constantFrom('a', 'b', 'c', 'd')
  .chain((letter) => fc.nat(30).map((no) => `${letter}${no}`));
const names = (most: number): fc.Arbitrary<string[]> => fc.uniqueArray(name, { maxLength: most });
const plain = { noNullPrototype: true };
const counted = fc.nat(9);
const digests: fc.Arbitrary<Digest> = fc.record(
  {
    counts: fc.record(
      {
        published: counted,
        delivered: counted,
        dead: counted,
        cancelled: counted,
        retried: counted,
      },
      plain,
    ),
    deliveries: names(limits.frameDeliveriesMax),
    more: fc.nat(99),
    subscriptions: names(limits.frameSubscriptionsMax),
    replays: names(limits.frameReplaysMax),
    isReset: fc.boolean(),
  },
  plain,
);

describe('newest', () => {
  it('moves an item that changed again to the place of its last change', () => {
    assert.deepEqual(newest(['a', 'b', 'c'], ['b', 'd'], 9), {
      kept: ['a', 'c', 'b', 'd'],
      left: 0,
    });
  });

  it('drops the oldest, and counts them', () => {
    assert.deepEqual(newest(['a', 'b', 'c'], ['b', 'd'], 2), { kept: ['b', 'd'], left: 2 });
  });
});

describe('mergeDigests', () => {
  it('adds the counts', () => {
    const one = { ...emptyDigest, counts: { ...noCounts, published: 2, dead: 1 }, more: 3 };
    const two = { ...emptyDigest, counts: { ...noCounts, published: 5, retried: 1 } };
    const { counts, more } = mergeDigests(one, two);
    assert.deepEqual(counts, { published: 7, delivered: 0, dead: 1, cancelled: 0, retried: 1 });
    assert.equal(more, 3);
  });

  it('counts the deliveries that it drops', () => {
    const all = Array.from({ length: limits.frameDeliveriesMax + 3 }, (_, no) => `dlv_${no}`);
    const older = { ...emptyDigest, deliveries: all.slice(0, 10) };
    const newer = { ...emptyDigest, deliveries: all.slice(10), more: 1 };
    const { deliveries, more } = mergeDigests(older, newer);
    assert.deepEqual(deliveries, all.slice(3));
    assert.equal(more, 4);
  });

  it('becomes a reset when it drops subscriptions, which are not counted', () => {
    const all = Array.from({ length: limits.frameSubscriptionsMax + 1 }, (_, no) => `s${no}`);
    const older = { ...emptyDigest, subscriptions: all.slice(0, 1) };
    const newer = { ...emptyDigest, subscriptions: all.slice(1) };
    assert.equal(mergeDigests(older, older).isReset, false);
    assert.equal(mergeDigests(older, newer).isReset, true);
  });

  it('is associative, and never grows beyond its limits', () => {
    fc.assert(
      fc.property(digests, digests, digests, (a, b, c) => {
        const left = mergeDigests(mergeDigests(a, b), c);
        const right = mergeDigests(a, mergeDigests(b, c));
        assert.deepEqual(left.deliveries, right.deliveries);
        assert.deepEqual(left.counts, right.counts);
        assert.deepEqual(left.subscriptions, right.subscriptions);
        assert(left.deliveries.length <= limits.frameDeliveriesMax);
        assert(left.subscriptions.length <= limits.frameSubscriptionsMax);
        assert(left.replays.length <= limits.frameReplaysMax);
        // Every change is either listed or counted.
        const changed = new Set([...a.deliveries, ...b.deliveries, ...c.deliveries]).size;
        assert(left.deliveries.length + left.more >= changed);
      }),
    );
  });
});

describe('readDigest', () => {
  it('round-trips through writeDigest', () => {
    fc.assert(
      fc.property(digests, (digest) => {
        assert.deepEqual(readDigest(writeDigest(digest)), digest);
      }),
    );
  });

  it('reads anything it does not understand as a reset', () => {
    const written = writeDigest({ ...emptyDigest, deliveries: ['dlv_1'] });
    const strange = [
      '{}',
      'null',
      '[]',
      written.replace('[0,0,0,0,0]', '[0,0]'),
      written.replace('"dlv_1"', '1'),
      written.replace('"more":0', '"more":"0"'),
      written.replace('"isReset":false', '"isReset":0'),
    ];
    assert(strange.every((text) => text !== written));
    assert.deepEqual(
      strange.map((text) => readDigest(text).isReset),
      strange.map(() => true),
    );
  });
});
