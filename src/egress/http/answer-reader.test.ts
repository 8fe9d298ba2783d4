import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/fast-check.ts';
import { limits } from '../../core/limits/limits.ts';
import { type AnswerHead, AnswerReader, AnswerTooLong, BadAnswer } from './answer-reader.ts';

interface Read {
  status: number | undefined;
  interim: number[];
  headers: AnswerHead['headers'];
  body: string;
  isKept: boolean;
  how: string;
}

/** Reads a response that arrives in these pieces and is then closed. */
function readIn(pieces: readonly Buffer[], method = 'POST'): Read {
  const read: Read = {
    status: undefined,
    interim: [],
    headers: [],
    body: '',
    isKept: false,
    how: 'goes_on',
  };
  const reader = new AnswerReader(limits, {
    onHead: ({ status, headers, isKept }) => {
      if (status < 200) read.interim.push(status);
      else Object.assign(read, { status, headers, isKept });
    },
    onBody: (data) => {
      read.body += Buffer.from(data).toString('latin1');
    },
  });
  reader.begin(method);
  try {
    for (const [at, piece] of pieces.entries()) {
      read.how = reader.read(piece);
      if (read.how === 'goes_on') continue;
      if (at < pieces.length - 1) read.how = 'ended_early';
      return read;
    }
  } catch (error) {
    assert(error instanceof BadAnswer || error instanceof AnswerTooLong, String(error));
    read.how = error.name;
    return read;
  }
  if (reader.close()) read.how = 'closed';
  return read;
}

function readWhole(text: string, method?: string): Read {
  return readIn([Buffer.from(text, 'latin1')], method);
}

function cutAt(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1');
  const places = [...new Set([0, ...cuts.map((cut) => cut % bytes.length), bytes.length])];
  places.sort((a, b) => a - b);
  return places.slice(1).map((end, at) => bytes.subarray(places[at], end));
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('AnswerReader', () => {
  it('reads status, headers and a body with a length', () => {
    assert.deepEqual(
      readWhole('HTTP/1.1 202 Fine\r\nX-A:\t b c \r\nContent-Length: 3\r\n\r\nabc'),
      {
        status: 202,
        interim: [],
        headers: [
          ['x-a', 'b c'],
          ['content-length', '3'],
        ],
        body: 'abc',
        isKept: true,
        how: 'ended',
      },
    );
  });

  const rows: [what: string, text: string, expected: Partial<Read>, method?: string][] = [
    ['chunks', `${chunked}3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`, { body: 'abc0123456789' }],
    ['chunks with trailers', `${chunked}1\r\na\r\n0\r\nx: y\r\nz: w\r\n\r\n`, { body: 'a' }],
    [
      'chunks under another coding',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, Chunked\r\n\r\n0\r\n\r\n',
      {},
    ],
    [
      'a body until it is closed',
      'HTTP/1.1 200 OK\r\n\r\nabc',
      { body: 'abc', how: 'closed', isKept: false },
    ],
    [
      'another coding until it is closed',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\nabc',
      { body: 'abc', how: 'closed', isKept: false },
    ],
    ['no reason', 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', {}],
    ['no headers', 'HTTP/1.1 204 No\r\n\r\n', { status: 204 }],
    [
      '304 with the length of what it stands for',
      'HTTP/1.1 304 No\r\ncontent-length: 9\r\n\r\n',
      { status: 304, isKept: false },
    ],
    ['304 without a length', 'HTTP/1.1 304 No\r\n\r\n', { status: 304 }],
    ['an answer to HEAD', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n', {}, 'HEAD'],
    [
      'interim answers',
      'HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hi\r\nlink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n',
      { status: 204, interim: [100, 103] },
    ],
    [
      'what does not keep the connection',
      'HTTP/1.1 204 No\r\nConnection: x, Close\r\n\r\n',
      { status: 204, isKept: false },
    ],
    ['HTTP/1.0', 'HTTP/1.0 204 No\r\n\r\n', { status: 204, isKept: false }],
    [
      'HTTP/1.0 that keeps it',
      'HTTP/1.0 204 No\r\nconnection: Keep-Alive\r\n\r\n',
      { status: 204 },
    ],
    [
      'a 204 that announces a body, and keeps no connection for it',
      'HTTP/1.1 204 No\r\ncontent-length: 9\r\n\r\n',
      { status: 204, isKept: false },
    ],
    [
      'a 204 in chunks, likewise',
      'HTTP/1.1 204 No\r\ntransfer-encoding: chunked\r\n\r\n',
      { status: 204, isKept: false },
    ],
    [
      'HTTP/1.0 that closes all the same',
      'HTTP/1.0 204 No\r\nconnection: keep-alive, close\r\n\r\n',
      { status: 204, isKept: false },
    ],
    [
      'HTTP/1.0 in chunks, which keeps nothing',
      'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      { isKept: false },
    ],
    ['more than one answer', 'HTTP/1.1 204 No\r\n\r\nx', { status: 204, how: 'ended_early' }],
    ['more than the last chunk', `${chunked}0\r\n\r\nx`, { how: 'ended_early' }],
  ];
  for (const [what, text, expected, method] of rows) {
    it(`reads ${what}`, () => {
      const { headers: _headers, ...read } = readWhole(text, method);
      assert.deepEqual(read, {
        status: 200,
        interim: [],
        body: '',
        isKept: true,
        how: 'ended',
        ...expected,
      });
    });
  }

  const ok = 'HTTP/1.1 200 OK\r\n';
  const bad: Record<string, string> = {
    'another protocol': 'SSH-2.0-x\r\n\r\n',
    'another version': 'HTTP/2.0 200 OK\r\n\r\n',
    'no status': 'HTTP/1.1\r\n\r\n',
    'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
    'a status below 100': 'HTTP/1.1 099 No\r\n\r\n',
    'a change of protocol': 'HTTP/1.1 101 No\r\nupgrade: x\r\n\r\n',
    'two lengths': `${ok}content-length: 1\r\nContent-Length: 1\r\n\r\na`,
    'a list of lengths': `${ok}content-length: 1, 1\r\n\r\na`,
    'a signed length': `${ok}content-length: +1\r\n\r\na`,
    'an endless length': `${ok}content-length: 9999999999999999\r\n\r\na`,
    'a length and chunks': `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    'a header without a colon': `${ok}x\r\n\r\n`,
    'a header without a name': `${ok}: x\r\n\r\n`,
    'a space before the colon': `${ok}content-length : 0\r\n\r\n`,
    'a folded line': `${ok}a: b\r\n c\r\n\r\n`,
    'a line that only LF ends': `${ok}a: b\nc: d\r\n\r\n`,
    'a lone CR': `${ok}a: b\rc: d\r\n\r\n`,
    'lines that only LF ends': 'HTTP/1.1 200 OK\ncontent-length: 0\n\n',
    'NUL in a value': `${ok}a: \0\r\n\r\n`,
    'a chunk without a size': `${chunked}\r\n`,
    'a chunk of no number': `${chunked}x\r\n`,
    'a chunk of a signed size': `${chunked}-1\r\n`,
    'a chunk of an endless size': `${chunked}fffffffffffffff\r\n`,
    'a chunk longer than its size': `${chunked}1\r\nab\r\n`,
    'a size that only LF ends': `${chunked}1\na\r\n0\r\n\r\n`,
    'an extension that only LF ends': `${chunked}1;x\na\r\n0\r\n\r\n`,
    'a trailer that only LF ends': `${chunked}0\r\nx: y\n\r\n`,
    'an interim answer with a length': `HTTP/1.1 103 Hi\r\ncontent-length: 1\r\n\r\n${ok}\r\n`,
    'an interim answer that closes': `HTTP/1.1 103 Hi\r\nconnection: close\r\n\r\n${ok}\r\n`,
    'an interim answer of HTTP/1.0': `HTTP/1.0 100 Go\r\n\r\n${ok}\r\n`,
    'an interim answer in chunks': `HTTP/1.1 100 Go\r\ntransfer-encoding: chunked\r\n\r\n${ok}\r\n`,
    'a coding with a tab behind it': `${ok}transfer-encoding: chunked\t\r\n\r\n0\r\n\r\n`,
    'a space behind a size': `${chunked}1 \r\na\r\n0\r\n\r\n`,
    'an extension without a name': `${chunked}1;\r\na\r\n0\r\n\r\n`,
    'an extension in quotes': `${chunked}1;x="y"\r\na\r\n0\r\n\r\n`,
    'an extension with two values': `${chunked}1;x=y=z\r\na\r\n0\r\n\r\n`,
    'a trailer without a colon': `${chunked}0\r\nxy\r\n\r\n`,
    'a trailer without a name': `${chunked}0\r\n: y\r\n\r\n`,
    'a trailer with a space before the colon': `${chunked}0\r\nx : y\r\n\r\n`,
    'a folded trailer': `${chunked}0\r\nx: y\r\n z\r\n\r\n`,
    'NUL in a trailer': `${chunked}0\r\nx: \0\r\n\r\n`,
    'DEL in a trailer': `${chunked}0\r\nx: \x7f\r\n\r\n`,
    'a last line that is none': `${chunked}0\r\n\rx`,
  };
  for (const [what, text] of Object.entries(bad)) {
    it(`refuses ${what}`, () => assert.equal(readWhole(text).how, 'BadAnswer'));
  }

  it('limits the lines and bytes of heads, interim ones included', () => {
    const lines = (count: number): string => 'a:\r\n'.repeat(count);
    const end = 'content-length: 0\r\n\r\n';
    const { responseHeadLinesMax, responseHeadBytesMax } = limits;
    assert.equal(readWhole(`${ok}${lines(responseHeadLinesMax - 2)}${end}`).how, 'ended');
    const more = `${ok}${lines(responseHeadLinesMax - 1)}${end}`;
    assert.equal(readWhole(more).how, 'AnswerTooLong');
    const interim = `HTTP/1.1 103 Hi\r\n${lines(99)}\r\n`;
    const after = `${ok}${lines(responseHeadLinesMax - 102)}${end}`;
    assert.equal(readWhole(interim + after).how, 'ended');
    assert.equal(readWhole(`${interim}a${after}`).how, 'BadAnswer');
    assert.equal(readWhole(`${interim}${ok}a:\r\n${after.slice(ok.length)}`).how, 'AnswerTooLong');
    const filler = (bytes: number): string => `${ok}x: ${'x'.repeat(bytes - ok.length - 5)}\r\n`;
    assert.equal(readWhole(`${filler(responseHeadBytesMax - end.length)}${end}`).how, 'ended');
    const long = `${filler(responseHeadBytesMax - end.length + 1)}${end}`;
    assert.equal(readWhole(long).how, 'AnswerTooLong');
    const hint = 'HTTP/1.1 103 Hi\r\nx: y\r\n\r\n';
    const left = responseHeadBytesMax - hint.length - end.length;
    assert.equal(readWhole(`${hint}${filler(left)}${end}`).how, 'ended');
    assert.equal(readWhole(`${hint}${filler(left + 1)}${end}`).how, 'AnswerTooLong');
  });

  it('limits everything after the head, whatever it is', () => {
    const { responseRestBytesMax: most } = limits;
    assert.equal(readWhole(`${chunked}1;${'x'.repeat(most - 2)}`).how, 'goes_on');
    assert.equal(readWhole(`${chunked}1;${'x'.repeat(most - 1)}`).how, 'AnswerTooLong');
  });

  const texts = [
    'HTTP/1.1 103 Hi\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello',
    `${chunked}3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nx: y\r\n\r\n`,
    'HTTP/1.1 200 OK\r\n\r\nabc',
    'HTTP/1.1 204 No\r\n\r\nmore',
    `${chunked}3\r\nabcd\r\n`,
    'HTTP/1.1 2000 No\r\n\r\n',
    `${ok}content-length: 9\r\n\r\nhalf`,
  ];
  it('reads the same however the bytes are split', () => {
    const property = fc.property(
      fc.constantFrom(...texts),
      fc.array(fc.nat(), { maxLength: 12 }),
      (text, cuts) => {
        const { body, ...whole } = readWhole(text);
        const read = readIn(cutAt(text, cuts));
        assert.deepEqual({ ...read, body: '' }, { ...whole, body: '' });
        if (whole.how !== 'BadAnswer') assert.equal(read.body, body);
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  it('throws only its own errors, whatever arrives', () => {
    const piece = fc.oneof(
      fc.constantFrom(...texts, 'HTTP/1.1 ', '\r\n', '0\r\n\r\n', 'content-length: 1\r\n'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const property = fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      (parts, cuts) => {
        const text = parts.join('');
        if (text !== '') readIn(cutAt(text, cuts));
      },
    );
    fc.assert(property, { numRuns: 3_000 });
  });
});
