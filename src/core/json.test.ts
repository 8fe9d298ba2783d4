import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readJson } from './json.ts';
import { limits } from './limits.ts';

function read(text: string): ReturnType<typeof readJson> {
  return readJson(new TextEncoder().encode(text));
}

function flaw(text: string): string {
  const reading = read(text);
  assert.equal(reading.kind, 'malformed');
  return reading.message;
}

describe('readJson', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        if (text.includes('"__proto__"')) return;
        assert.deepEqual(read(text), { kind: 'value', value: JSON.parse(text) });
      }),
    );
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        assert.ok(['value', 'malformed'].includes(readJson(bytes).kind));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[[\]{}",:\\a1]*$/), (text) => {
        assert.ok(['value', 'malformed'].includes(read(text).kind));
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts a byte order mark', () => {
    assert.deepEqual(readJson(Buffer.from([0xef, 0xbb, 0xbf, 0x31])), { kind: 'value', value: 1 });
  });

  it('refuses bytes that are no UTF-8', () => {
    const reading = readJson(Buffer.from([0x22, 0xff, 0x22]));
    assert.deepEqual(reading, { kind: 'malformed', message: 'is not valid UTF-8' });
  });

  it('refuses nesting beyond the limit and takes nesting up to it', () => {
    const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(read(nest(limits.jsonDepthMax)).kind, 'value');
    assert.match(flaw(nest(limits.jsonDepthMax + 1)), /nested deeper than 64/);
    assert.match(flaw('['.repeat(1_000_000)), /nested deeper than 64/);
  });

  it('refuses too many values', () => {
    assert.match(flaw(`[${'1,'.repeat(limits.jsonNodesMax)}1]`), /more than 50000 values/);
  });

  it('refuses a key that stands twice in one object, also when spelled differently', () => {
    assert.match(flaw('{"a":1,"a":2}'), /key "a" twice/);
    assert.match(flaw('{"a":1,"\\u0061":2}'), /key "a" twice/);
    assert.equal(read('{"a":{"a":1},"b":[{"a":1},{"a":2}]}').kind, 'value');
    assert.equal(read('{"a":"a","b":"a"}').kind, 'value');
  });

  it('refuses the key __proto__', () => {
    assert.match(flaw('{"__proto__":{}}'), /__proto__/);
  });

  it('says where JSON is broken', () => {
    for (const text of ['', '{', '{"a"', '"\\', '{"a":}', 'nul', '{"\\x":1}', '[1]]']) {
      assert.match(flaw(text), /is not valid JSON/, text);
    }
  });
});
