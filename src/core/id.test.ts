import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstIdAt, idMaker, withoutPrefix, withPrefix } from './id.ts';

function worldAt(times: number[], chance = 0): Parameters<typeof idMaker>[0] {
  let turn = 0;
  return {
    nowMs: () => times[Math.min(turn++, times.length - 1)] ?? 0,
    randomBytes: (count) => new Uint8Array(count).fill(chance),
  };
}

describe('idMaker', () => {
  it('makes 26 characters that begin with the time', () => {
    const make = idMaker(worldAt([0, 1, 2 ** 48 - 1]));
    assert.equal(make(), '00000000000000000000000000');
    assert.equal(make(), '00000000010000000000000000');
    assert.equal(make(), '7zzzzzzzzz0000000000000000');
  });

  it('rises strictly within a millisecond and when the clock steps back', () => {
    const make = idMaker(worldAt([1000, 1000, 1000, 999, 500, 1001], 0xff));
    const ids = Array.from({ length: 6 }, make);
    assert.deepEqual(ids, [...ids].sort());
    assert.equal(new Set(ids).size, 6);
  });

  it('goes on rising when chance runs over', () => {
    const make = idMaker(worldAt([5]));
    const first = make();
    const many = Array.from({ length: 5000 }, make);
    assert.deepEqual([first, ...many], [first, ...many].sort());
  });
});

describe('the chance in an id', () => {
  it('counts on where its lower half is full', () => {
    const bytes = Uint8Array.of(0, 0, 0, 0, 3, 255, 255, 255, 255, 254);
    const make = idMaker({ nowMs: () => 0, randomBytes: () => bytes });
    const ids = Array.from({ length: 2 }, make).map((id) => id.slice(10));
    assert.deepEqual(ids, ['00000001zzzzzzzz', '0000000200000000']);
  });
});

describe('firstIdAt', () => {
  it('stands between what was made before and what was made then', () => {
    for (const ms of [1, 1_700_000_000_000]) {
      assert(idMaker(worldAt([ms - 1], 0xff))() < firstIdAt(ms));
      assert(idMaker(worldAt([ms], 0))() >= firstIdAt(ms));
    }
  });

  it('takes a time before 1970 for the first one: nothing is older', () => {
    assert.equal(firstIdAt(-2_592_000_000), '0'.repeat(26));
  });
});

describe('withoutPrefix', () => {
  it('gives back what withPrefix was given', () => {
    const id = idMaker(worldAt([1_700_000_000_000], 0x5a))();
    assert.equal(withoutPrefix('sub', withPrefix('sub', id)), id);
  });

  it('knows what is no id of the kind', () => {
    const id = '01jc4t6v8m3q5r7w9x1y2z3a4b';
    const strangers = [
      id,
      `app_${id}`,
      `sub_${id}0`,
      `sub_${id.slice(1)}`,
      `sub_${id.toUpperCase()}`,
    ];
    for (const text of [...strangers, '', 'sub_', `sub_8${id.slice(1)}`, `sub_${id}\n`]) {
      assert.equal(withoutPrefix('sub', text), undefined, text);
    }
  });
});
