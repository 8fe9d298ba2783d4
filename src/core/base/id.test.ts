import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  firstIdAt,
  idForms,
  idMaker,
  idOfForm,
  readId,
  withoutPrefix,
  withPrefix,
  writeId,
} from './id.ts';

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

  it('increases strictly within a millisecond and when the clock steps back', () => {
    const make = idMaker(worldAt([1000, 1000, 1000, 999, 500, 1001], 0xff));
    const ids = Array.from({ length: 6 }, make);
    assert.deepEqual(ids, [...ids].sort());
    assert.equal(new Set(ids).size, 6);
  });

  it('keeps increasing when the random part overflows', () => {
    const make = idMaker(worldAt([5]));
    const first = make();
    const many = Array.from({ length: 5000 }, make);
    assert.deepEqual([first, ...many], [first, ...many].sort());
  });
});

describe('the random part of an id', () => {
  it('leaves 64 unpredictable bits between two ids of one millisecond', () => {
    const make = idMaker({ nowMs: () => 5, randomBytes: countedBytes() });
    const ids = Array.from({ length: 10_000 }, make);
    assert.deepEqual(ids, ids.toSorted());
    assert.equal(new Set(ids.map((id) => id.slice(0, 10))).size, 1, 'all of one millisecond');
    const numbers = ids.map(chanceIn);
    const steps = numbers.slice(1).map((number, at) => number - (numbers[at] ?? 0n));
    assert.equal(new Set(steps).size, steps.length, 'no step comes twice');
    // For fair coins, six standard deviations from the mean occur once in 500 million.
    const fewest = steps.length / 2 - 6 * Math.sqrt(steps.length / 4);
    for (let bit = 0n; bit < 64n; bit += 1n) {
      const ones = steps.filter((step) => ((step >> bit) & 1n) === 1n).length;
      assert(ones > fewest && ones < steps.length - fewest, `bit ${bit} is set in ${ones} steps`);
    }
  });

  it('borrows the next millisecond when the random part of one is used up', () => {
    const make = idMaker(worldAt([5], 0xff));
    const ids = Array.from({ length: 70_000 }, make);
    assert.deepEqual(ids, ids.toSorted());
    assert.equal(new Set(ids).size, ids.length);
    const times = new Set(ids.map((id) => id.slice(0, 10)));
    assert.deepEqual(
      [...times],
      [5, 6, 7].map((ms) => firstIdAt(ms).slice(0, 10)),
    );
  });
});

/** The same on every run, and without a pattern. */
function countedBytes(): (count: number) => Uint8Array {
  let drawn = 0;
  return (count) => hash('sha256', String(drawn++), 'buffer').subarray(0, count);
}

function chanceIn(id: string): bigint {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz';
  let sum = 0n;
  for (const digit of id.slice(10)) sum = sum * 32n + BigInt(digits.indexOf(digit));
  return sum;
}

describe('firstIdAt', () => {
  it('sorts between ids made before that time and ids made at it', () => {
    for (const ms of [1, 1_700_000_000_000]) {
      assert(idMaker(worldAt([ms - 1], 0xff))() < firstIdAt(ms));
      assert(idMaker(worldAt([ms], 0))() >= firstIdAt(ms));
    }
  });

  it('maps any time before 1970 to the lowest id', () => {
    assert.equal(firstIdAt(-2_592_000_000), '0'.repeat(26));
  });
});

describe('withoutPrefix', () => {
  it('undoes withPrefix', () => {
    const id = idMaker(worldAt([1_700_000_000_000], 0x5a))();
    assert.equal(withoutPrefix('sub', withPrefix('sub', id)), id);
  });

  it('rejects anything that is not an id of that kind', () => {
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

describe('readId', () => {
  const id = idMaker(worldAt([1_700_000_000_000], 0xa5))();

  it('reads every form that writeId writes', () => {
    for (const form of idForms) {
      const formed = idOfForm(form, id);
      assert.equal(readId('sub', writeId(form, 'sub', formed)), formed, form);
      assert.equal(readId('sub', withPrefix('sub', formed)), formed, form);
    }
  });

  it('knows UUIDs of version 7, and integers that JSON can hold', () => {
    const [, uuid = '', integer, short] = idForms.map((form) =>
      writeId(form, 'sub', idOfForm(form, id)),
    );
    assert.match(uuid, /^018bcfe5-6800-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert(Number.isSafeInteger(Number(integer)) && Number(short) < 2 ** 31);
    const none = firstIdAt(0);
    assert.equal(writeId('integer', 'sub', idOfForm('integer', none)), '1');
  });

  it('rejects anything else', () => {
    for (const text of ['', '0', '01', '-1', '1.5', '1'.repeat(17), 'evt_' + id, id]) {
      assert.equal(readId('sub', text), undefined, text);
    }
  });
});
