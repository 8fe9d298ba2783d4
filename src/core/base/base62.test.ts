import assert from 'node:assert/strict';
import { it } from 'node:test';
import { base62 } from './base62.ts';

it('writes a narrow number as the last digits of a wide one', () => {
  for (let seed = 0; seed < 500; seed += 1) {
    const bytes = Uint8Array.from({ length: 1 + (seed % 40) }, (_, i) => seed * 31 + i * i * 97);
    const all = base62(bytes, 60);
    for (const width of [1, 6, 8]) assert.equal(base62(bytes, width), all.slice(-width));
  }
});

it('writes the largest and the smallest value', () => {
  assert.equal(base62(new Uint8Array(4).fill(0xff), 6), '4gfFC3');
  assert.equal(base62(new Uint8Array(4), 6), '000000');
});
