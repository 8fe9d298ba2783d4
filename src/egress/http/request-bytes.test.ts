import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BadRequest, requestBytes, type RequestParts } from './request-bytes.ts';

const parts: RequestParts = {
  method: 'POST',
  path: '/a?b=c',
  authority: 'example.com:8080',
  headers: ['x-a', '1', 'x-b', 'two words'],
  body: Buffer.from('{}'),
};

function textOf(more: Partial<RequestParts> = {}): string {
  const { first, rest } = requestBytes({ ...parts, ...more });
  return Buffer.concat([first, rest ?? Buffer.alloc(0)]).toString('latin1');
}

describe('requestBytes', () => {
  it('prints the request as it is sent', () => {
    assert.equal(
      textOf(),
      'POST /a?b=c HTTP/1.1\r\nhost: example.com:8080\r\nconnection: keep-alive\r\n' +
        'x-a: 1\r\nx-b: two words\r\ncontent-length: 2\r\n\r\n{}',
    );
  });

  it('adds content-length where one is expected', () => {
    const body = new Uint8Array(0);
    assert.match(textOf({ body }), /content-length: 0\r\n/);
    assert.match(textOf({ body, method: 'QUERY' }), /content-length: 0\r\n/);
    assert.doesNotMatch(textOf({ body, method: 'GET' }), /content-length/);
    assert.doesNotMatch(textOf({ body, method: 'DELETE' }), /content-length/);
    assert.match(textOf({ method: 'DELETE' }), /content-length: 2\r\n/);
  });

  it('does not copy a long body', () => {
    const body = Buffer.alloc(100_000, 0xff);
    assert.equal(requestBytes({ ...parts, body }).rest, body);
    assert(textOf({ body }).endsWith(`content-length: 100000\r\n\r\n${body.toString('latin1')}`));
  });

  const bad: Record<string, Partial<RequestParts>> = {
    'a method of two words': { method: 'PO ST' },
    'an empty method': { method: '' },
    CONNECT: { method: 'CONNECT' },
    'a path with a space': { path: '/a b' },
    'a path with a line break': { path: '/a\r\nx: y' },
    'a host with a line break': { authority: 'a\r\nx: y' },
    'an empty name': { headers: ['', 'x'] },
    'a name with a space': { headers: ['a b', 'x'] },
    'a name with a colon': { headers: ['a: b', 'x'] },
    'a name with a line break': { headers: ['a\r\nb', 'x'] },
    'a value with CR and LF': { headers: ['a', 'x\r\nb: c'] },
    'a value with LF': { headers: ['a', 'x\nb: c'] },
    'a value with CR': { headers: ['a', 'x\rb'] },
    'a value with NUL': { headers: ['a', 'x\0'] },
    'a value that is cut to a line break': { headers: ['a', 'x\u010d\u010a'] },
    'another length': { headers: ['Content-Length', '1'] },
    'a transfer encoding': { headers: ['Transfer-Encoding', 'chunked'] },
    'another host': { headers: ['Host', 'evil.example'] },
    'an expectation': { headers: ['Expect', '100-continue'] },
    'a connection header': { headers: ['connection', 'close'] },
  };
  for (const [what, more] of Object.entries(bad)) {
    it(`does not write ${what}`, () => {
      assert.throws(() => requestBytes({ ...parts, ...more }), BadRequest);
    });
  }
});
