import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { instantMs } from './instant.ts';

describe('instantMs', () => {
  it('reads times whose UTC year has four digits', () => {
    for (const text of ['0000-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
      const ms = instantMs(text);
      assert(ms !== undefined);
      assert.equal(new Date(ms).toISOString(), text);
    }
  });

  it('refuses times that an offset moves out of these years, and leap seconds', () => {
    for (const text of [
      '9999-12-31T23:59:59-23:59',
      '0000-01-01T00:00:00+00:01',
      '2016-12-31T23:59:60Z',
    ]) {
      assert.equal(instantMs(text), undefined, text);
    }
  });
});
