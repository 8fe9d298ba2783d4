import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import type { Header } from '../../core/domain/attempt.ts';
import { limits } from '../../core/limits/limits.ts';
import { KeptBody, keepHeaders } from './stored-response.ts';

describe('keepHeaders', () => {
  it('keeps names and values, including repeated names', () => {
    const headers: Header[] = [
      ['retry-after', '5'],
      ['via', 'a'],
      ['via', 'b'],
      ['x-empty', ''],
    ];
    assert.deepEqual(keepHeaders(headers), headers);
  });

  it('drops cookies and overlong names and values, and limits their number', () => {
    const many = Array.from({ length: 80 }, (_, i): Header => [`x-${i}`, 'v']);
    const long = 'x'.repeat(limits.responseHeaderNameCharsMax + 1);
    const kept = keepHeaders([
      ['set-cookie', 'session=secret'],
      [long, 'v'],
      ['x-long', 'v'.repeat(9_000)],
      ...many,
    ]);
    assert.equal(kept.length, limits.responseHeadersMax);
    assert.deepEqual(kept[0], ['x-long', 'v'.repeat(limits.responseHeaderCharsMax)]);
    assert(kept.every(([name]) => name !== 'set-cookie' && name !== long));
  });
});

describe('KeptBody', () => {
  it('keeps the beginning of the body, however it is split, and reports when it is full', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });
    const property = fc.property(pieces, fc.integer({ min: 0, max: 100 }), (chunks, bytesMax) => {
      const body = new KeptBody(bytesMax);
      const whole = Buffer.concat(chunks);
      let length = 0;
      for (const chunk of chunks) {
        length += chunk.length;
        const said = body.add(chunk);
        assert.equal(said, length > bytesMax ? 'full' : 'fits');
        if (said === 'full') break;
      }
      assert.deepEqual(Buffer.from(body.bytes()), whole.subarray(0, bytesMax));
    });
    fc.assert(property);
  });

  it('does not retain the chunk', () => {
    const chunk = Buffer.from('hello');
    const body = new KeptBody(100);
    body.add(chunk);
    chunk.fill(0);
    assert.equal(Buffer.from(body.bytes()).toString(), 'hello');
    assert.equal(body.bytes().buffer.byteLength, 5);
  });
});
