import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import {
  decodeControls,
  decodeFilter,
  encodeControls,
  encodeFilter,
  noControls,
  type Controls,
} from './controls.ts';

const all: Controls = {
  description: 'for people',
  metadata: { team: 'warehouse', __proto: 'x' },
  filter: { '/a': [1, 'x', true, null] },
  retryMs: [5_000, 300_000],
  timeoutMs: 500,
  concurrency: 4,
  signing: 'ed25519',
  ratePerSecond: 0.5,
  headerNames: ['Authorization'],
  ordered: true,
  expiresMs: 1_900_000_000_000,
};
const { filter, ordered, expiresMs } = all;
const columns = { filter, ordered, expiresMs };

describe('encodeControls', () => {
  it('round-trips through decodeControls', () => {
    assert.deepEqual(decodeControls(encodeControls(all), columns), all);
    const none = { filter: undefined, ordered: false, expiresMs: undefined };
    assert.deepEqual(decodeControls(encodeControls(noControls), none), noControls);
    assert.deepEqual(decodeControls('{}', none), noControls);
  });

  it('leaves out controls that have a column, and unset ones', () => {
    const settings = encodeControls({ ...noControls, ...columns, timeoutMs: 5 });
    assert.equal(settings, '{"timeoutMs":5}');
  });

  it('keeps unknown settings of a newer node, and removes known ones that were unset', () => {
    const before = '{"later":{"a":1},"timeoutMs":7,"description":"old"}';
    const settings = encodeControls({ ...noControls, timeoutMs: 9 }, before);
    assert.deepEqual(JSON.parse(settings), { later: { a: 1 }, timeoutMs: 9 });
  });
});

describe('decodeControls', () => {
  it('ignores unknown settings', () => {
    const found = decodeControls('{"later":[1,{}],"description":"x"}', columns);
    assert.deepEqual(found, { ...noControls, ...columns, description: 'x' });
  });

  it('refuses values of the wrong type', () => {
    const odd = ['[]', '"x"', 'null', '{"timeoutMs":"5s"}', '{"retryMs":[null]}'];
    for (const settings of [...odd, '{"metadata":{"a":1}}', '{"headerNames":"a"}']) {
      assert.throws(() => decodeControls(settings, columns), /Cannot read/, settings);
    }
  });
});

describe('encodeFilter', () => {
  it('round-trips through decodeFilter, which refuses values of the wrong type', () => {
    const some = { '/a': [1, 'x', true, null], '': [''] };
    assert.deepEqual(decodeFilter(encodeFilter(some)), some);
    for (const text of ['[]', 'null', '{"/a":1}', '{"/a":[{}]}']) {
      assert.throws(() => decodeFilter(text), /Cannot read a filter/, text);
    }
  });
});
