import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { bounds } from '../document/bounds.ts';
import { mediaTypeParameter, readDisposition, readMultipart } from './decode-body.ts';

function read(text: string, boundary = 'b'): unknown {
  const reading = readMultipart(Buffer.from(text), boundary);
  if (reading.kind === 'malformed') return reading.message;
  return reading.parts.map(({ header, bytes }) => [
    Object.fromEntries(header),
    Buffer.from(bytes).toString(),
  ]);
}

describe('readMultipart', () => {
  it('splits parts, with and without headers, including empty ones', () => {
    const text =
      '--b\r\nA: 1\r\nB:2\r\n\r\none\r\n--b  \r\n\r\ntwo\r\n--b\r\nC: 3\r\n\r\n\r\n--b--';
    assert.deepEqual(read(text), [
      [{ a: '1', b: '2' }, 'one'],
      [{}, 'two'],
      [{ c: '3' }, ''],
    ]);
    assert.deepEqual(read('--b--'), []);
    assert.deepEqual(read('pre\r\n--b\r\n\r\nx\r\n--b--post'), [[{}, 'x']]);
  });

  it('treats text that only begins like a boundary as text', () => {
    assert.deepEqual(read('--b\r\n\r\nx\r\n--bb\r\n--b-\r\n--b--'), [[{}, 'x\r\n--bb\r\n--b-']]);
  });

  it('refuses text that begins like a boundary too often', () => {
    const like = (count: number): string => `--b\r\n\r\nx${'\r\n--bb'.repeat(count)}\r\n--b--`;
    assert.equal(Array.isArray(read(like(bounds.fieldsMax))), true);
    assert.match(String(read(like(bounds.fieldsMax + 1))), /more than 1000 lines that start with/);
  });

  it('names the missing part', () => {
    assert.equal(read('x'), 'has no part: expected it to start with "--b"');
    assert.equal(read('x--b--'), 'has no part: expected it to start with "--b"');
    assert.equal(read('--b\r\n\r\nx'), 'does not end with "--b--"');
    assert.equal(read('--b\r\nx\r\n--b--'), 'has a part without headers, or with too many');
  });

  it('never throws, and finds the parts of any body that was built from parts', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string({ minLength: 1 }), (bytes, boundary) => {
        readMultipart(bytes, boundary);
      }),
    );
    const part = fc.uint8Array().filter((bytes) => !Buffer.from(bytes).includes('\r\n--b'));
    fc.assert(
      fc.property(fc.array(part), (list) => {
        const each = list.flatMap((bytes) => [
          Buffer.from('--b\r\nX: y\r\n\r\n'),
          bytes,
          Buffer.from('\r\n'),
        ]);
        const reading = readMultipart(Buffer.concat([...each, Buffer.from('--b--')]), 'b');
        assert.ok(reading.kind === 'parts');
        assert.deepEqual(
          reading.parts.map(({ bytes }) => [...bytes]),
          list.map((bytes) => [...bytes]),
        );
      }),
    );
  });
});

describe('mediaTypeParameter, readDisposition', () => {
  it('parse quoted and bare values', () => {
    assert.equal(mediaTypeParameter('a/b; boundary="x y"; c=d', 'boundary'), 'x y');
    assert.equal(mediaTypeParameter('a/b;Boundary=x', 'boundary'), 'x');
    assert.equal(mediaTypeParameter('a/b', 'boundary'), undefined);
    const disposition = (text: string): unknown =>
      readDisposition({
        header: new Map([['content-disposition', text]]),
        bytes: new Uint8Array(),
      });
    assert.deepEqual(disposition('form-data; name="a\\"b"; filename=c'), {
      name: 'a"b',
      file: 'c',
    });
    assert.deepEqual(disposition('form-data; filename="x%22"; name="a"'), {
      name: 'a',
      file: 'x"',
    });
    assert.equal(disposition('attachment; name=a'), undefined);
    assert.equal(disposition('form-data; filename=a'), undefined);
  });
});
