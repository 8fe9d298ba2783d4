import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { readJson, readOpaqueJson } from './json.ts';
import { limits } from '../limits/limits.ts';

function read(text: string): ReturnType<typeof readJson> {
  return readJson(new TextEncoder().encode(text));
}

function flaw(text: string): string {
  const reading = read(text);
  assert.equal(reading.kind, 'malformed');
  return reading.message;
}

describe('readJson', () => {
  it('reads everything that JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        if (text.includes('"__proto__"')) return;
        assert.deepEqual(read(text), { kind: 'value', value: JSON.parse(text), opaque: new Map() });
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
    const reading = readJson(Buffer.from([0xef, 0xbb, 0xbf, 0x31]));
    assert.equal(reading.kind === 'value' && reading.value, 1);
  });

  it('refuses bytes that are not UTF-8', () => {
    const reading = readJson(Buffer.from([0x22, 0xff, 0x22]));
    assert.deepEqual(reading, { kind: 'malformed', message: 'is not valid UTF-8' });
  });

  it('refuses nesting beyond the limit and accepts nesting up to it', () => {
    const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    assert.equal(read(nest(limits.jsonDepthMax)).kind, 'value');
    assert.match(flaw(nest(limits.jsonDepthMax + 1)), /nested deeper than 64/);
    assert.match(flaw('['.repeat(1_000_000)), /nested deeper than 64/);
  });

  it('refuses too many values', () => {
    assert.match(flaw(`[${'1,'.repeat(limits.jsonNodesMax)}1]`), /more than 50000 values/);
  });

  it('refuses too many keys, in one object or many, but not those of an opaque member', () => {
    const keys = (count: number): string =>
      Array.from({ length: count }, (_, at) => `"k${at}":1`).join();
    assert.equal(read(`{${keys(limits.jsonKeysMax)}}`).kind, 'value');
    assert.match(flaw(`{${keys(limits.jsonKeysMax + 1)}}`), /more than 10000 keys/);
    const half = `{${keys(limits.jsonKeysMax / 2)}}`;
    assert.equal(read(`[${half},${half}]`).kind, 'value');
    assert.match(flaw(`[${half},${half},{"a":1}]`), /more than 10000 keys/);
    const opaque = `{"payload":{${keys(2 * limits.jsonKeysMax)}}}`;
    assert.equal(readJson(new TextEncoder().encode(opaque), 'payload').kind, 'value');
  });

  it('refuses a repeated key in an object, even when escaped differently', () => {
    assert.match(flaw('{"a":1,"a":2}'), /key "a" twice/);
    assert.match(flaw('{"a":1,"\\u0061":2}'), /key "a" twice/);
    assert.equal(read('{"a":{"a":1},"b":[{"a":1},{"a":2}]}').kind, 'value');
    assert.equal(read('{"a":"a","b":"a"}').kind, 'value');
  });

  it('refuses a repeated key among many keys, wherever the two are', () => {
    const keys = Array.from({ length: 40 }, (_, i) => `"k${i}":0`);
    assert.equal(read(`{${keys.join()}}`).kind, 'value');
    for (let at = 0; at < keys.length; at += 1) {
      for (const first of [0, at, keys.length - 1]) {
        const twice = keys.toSpliced(at, 0, `"\\u006b${first}":1`);
        assert.match(flaw(`{${twice.join()}}`), new RegExp(`key "k${first}" twice`));
      }
    }
  });

  it('refuses the key __proto__', () => {
    assert.match(flaw('{"__proto__":{}}'), /__proto__/);
  });

  it('says where the JSON is malformed', () => {
    for (const text of ['', '{', '{"a"', '"\\', '{"a":}', 'nul', '{"\\x":1}', '[1]]']) {
      assert.match(flaw(text), /is not valid JSON/, text);
    }
  });

  describe('with an opaque member', () => {
    const slices = (text: string): Record<string, string> => {
      const reading = readJson(Buffer.from(text), 'payload');
      assert.equal(reading.kind, 'value', JSON.stringify(reading));
      return Object.fromEntries([...reading.opaque].map(([at, bytes]) => [at, String(bytes)]));
    };

    it('keeps its bytes as they are: spaces, key order, big integers, escapes, duplicate keys', () => {
      const payload = '{ "b":12345678901234567890,"a" : "\\u00e9é","a":1E400, "__proto__":{} }';
      assert.deepEqual(slices(`{"event":"x","payload": \n${payload}\t}`), { '/payload': payload });
      assert.deepEqual(slices(`{"payload":${payload} ,"event":"payload"}`), {
        '/payload': payload,
      });
    });

    it('finds it in every item of a list, and not inside another one', () => {
      const text =
        '{"events":[{"payload":{"payload":1}},{"payload":[1,{"payload":2}]},{"payload":"}"}]}';
      assert.deepEqual(slices(text), {
        '/events/0/payload': '{"payload":1}',
        '/events/1/payload': '[1,{"payload":2}]',
        '/events/2/payload': '"}"',
      });
    });

    it('does not mistake a value for a key', () => {
      assert.deepEqual(slices('{"event":"payload","x":["payload",1]}'), {});
    });

    it('still refuses duplicate keys around it, and nesting that is too deep in it', () => {
      const flawOf = (text: string): string => {
        const reading = readJson(Buffer.from(text), 'payload');
        return reading.kind === 'malformed' ? reading.message : 'none';
      };
      assert.match(flawOf('{"payload":1,"payload":2}'), /twice/);
      assert.match(flawOf('{"payload":{"a":1,"a":2},"a":1,"a":2}'), /twice/);
      assert.match(flawOf(`{"payload":${'['.repeat(100)}}`), /deeper/);
    });

    it('returns what JSON.parse returns, for any JSON', () => {
      fc.assert(
        fc.property(fc.json({ maxDepth: 6 }), fc.json({ maxDepth: 3 }), (payload, other) => {
          const text = `{"a":${other.replaceAll('payload', '')},"payload": ${payload} ,"b":[]}`;
          const reading = readJson(Buffer.from(text), 'payload');
          if (reading.kind === 'malformed') return;
          assert.equal(String(reading.opaque.get('/payload')), payload.trim());
        }),
        { numRuns: 1000 },
      );
    });
  });
});

describe('readOpaqueJson', () => {
  const readOpaque = (text: string): ReturnType<typeof readJson> =>
    readOpaqueJson(new TextEncoder().encode(text));

  it('reads a payload as it reads an opaque member, with whatever keys it has', () => {
    for (const text of ['{"a":1,"a":2}', '{"__proto__":1}', '[[{"x":[]}],2]', ' "text" ', '7']) {
      const member = readJson(new TextEncoder().encode(`{"payload":${text}}`), 'payload');
      assert(member.kind === 'value');
      const value: unknown = JSON.parse(text);
      assert.deepEqual(readOpaque(text), { kind: 'value', value, opaque: new Map() });
      assert.deepEqual(member.value, { payload: value });
    }
  });

  it('applies the same limits', () => {
    assert.equal(readOpaque('['.repeat(limits.jsonDepthMax + 1)).kind, 'malformed');
    assert.equal(readOpaque(`[${'1,'.repeat(limits.jsonNodesMax)}1]`).kind, 'malformed');
    assert.equal(readOpaque('{"a":1},"b":{"c":2}').kind, 'malformed');
  });
});
