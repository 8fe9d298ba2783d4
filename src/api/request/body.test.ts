import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBody, type Body } from './body.ts';
import type { RawHead } from './raw-request.ts';

function readForm(bytes: Uint8Array): Body | undefined {
  const header = new Map([['content-type', 'application/x-www-form-urlencoded']]);
  return readBody(bytes, { header } as unknown as RawHead, undefined);
}

describe('readBody', () => {
  it('reads + in a form as a space, and does not change the bytes', () => {
    const bytes = Buffer.from('a+b=c+%2B+%20d&e=+');
    const body = readForm(bytes);
    assert.deepEqual(body?.value, { 'a b': 'c +  d', e: ' ' });
    assert.equal(bytes.toString(), 'a+b=c+%2B+%20d&e=+');
  });
});
