import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { buffer } from 'node:stream/consumers';
import { fc } from '../../../test/fast-check.ts';
import { limits } from '../../core/limits/limits.ts';
import { WholeReader, type Reading, type WholeRequest } from './read-whole.ts';

const body = '{"event":"a.b"}';
const plain = ['Host: x', 'Content-Type: application/json', `Content-Length: ${body.length}`];

function bytesOf(lines: readonly string[], { first = 'POST /events HTTP/1.1', rest = body } = {}) {
  return Buffer.from(`${[first, ...lines].join('\r\n')}\r\n\r\n${rest}`, 'latin1');
}

function readWhole(bytes: Buffer): Reading {
  return new WholeReader().read(bytes);
}

function whole(bytes: Buffer): WholeRequest {
  const reading = readWhole(bytes);
  assert(typeof reading === 'object', JSON.stringify(reading));
  return reading;
}

describe('readWhole: a plain request', () => {
  it('is read: its path, its headers line by line, its body', () => {
    const lines = [
      ...plain,
      'X-API-Key:  k \t',
      'x-api-key: l',
      'Connection: Keep-Alive',
      'X-Empty:',
    ];
    const { head, body: read } = whole(
      bytesOf(lines, { first: 'POST /events?a=%20&b=c HTTP/1.1' }),
    );
    assert.deepEqual([head.url, head.path, String(read)], ['/events?a=%20&b=c', '/events', body]);
    assert.deepEqual(
      { ...head.headersDistinct },
      {
        host: ['x'],
        'content-type': ['application/json'],
        'x-api-key': ['k', 'l'],
        connection: ['Keep-Alive'],
        'x-empty': [''],
      },
    );
  });

  it('may have headers named like members of Object.prototype', () => {
    const { headersDistinct } = whole(bytesOf([...plain, '__proto__: a', 'constructor: b'])).head;
    assert.deepEqual(headersDistinct['__proto__'], ['a']);
    assert.deepEqual(headersDistinct['constructor'], ['b']);
  });

  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8']) {
    it(`may declare ${type}`, () => {
      const lines = plain.map((line) =>
        line.startsWith('Content-Type') ? `Content-Type: ${type}` : line,
      );
      assert.equal(String(whole(bytesOf(lines)).body), body);
    });
  }

  it('is waited for until its body is complete, if that is small', () => {
    for (const length of [0, 1, body.length - 1]) {
      assert.equal(readWhole(bytesOf(plain, { rest: body.slice(0, length) })), 'unfinished');
    }
    const large = [...plain.slice(0, 2), `Content-Length: ${limits.smallBodyBytes + 1}`];
    assert.equal(readWhole(bytesOf(large)), 'doubt');
    const rest = 'x'.repeat(limits.smallBodyBytes + 1);
    assert.equal(whole(bytesOf(large, { rest })).body.length, rest.length);
  });
});

describe('WholeReader: a repeated head', () => {
  const lined = (length: number | string): string[] => [
    ...plain.slice(0, 2),
    `Content-Length: ${length}`,
    'X-API-Key: k',
  ];
  const said = (length: number): Buffer => bytesOf(lined(length), { rest: 'x'.repeat(length) });

  it('is not parsed again, whatever its length', () => {
    const reader = new WholeReader();
    const readings = [15, 15, 9, 1_234_567, 1].map((length) => {
      const reading = reader.read(said(length));
      assert(typeof reading === 'object');
      assert.equal(reading.body.length, length);
      return reading.head;
    });
    assert(readings.every((head) => head === readings[0]));
    assert(reader.read(said(10_000_000)) === 'doubt', 'as when it is said for the first time');
    assert.deepEqual(
      { ...readings[0]?.headersDistinct },
      {
        host: ['x'],
        'content-type': ['application/json'],
        'x-api-key': ['k'],
      },
    );
  });

  it('is forgotten after a different one', () => {
    const reader = new WholeReader();
    const heads = ['k', 'l', 'l', 'k'].map((key) => {
      const reading = reader.read(bytesOf([...plain, `X-API-Key: ${key}`]));
      assert(typeof reading === 'object');
      return reading.head;
    });
    assert.deepEqual(
      heads.map(({ headersDistinct }) => headersDistinct['x-api-key']),
      [['k'], ['l'], ['l'], ['k']],
    );
    assert.equal(heads[1], heads[2]);
    assert.notEqual(heads[0], heads[3]);
  });

  it('is not kept if it is large', () => {
    const reader = new WholeReader();
    const large = [...plain, `X-A: ${'b'.repeat(limits.directRepeatBytesMax)}`];
    const [first, second] = [reader.read(bytesOf(large)), reader.read(bytesOf(large))];
    assert(typeof first === 'object' && typeof second === 'object');
    assert.notEqual(first.head, second.head);
  });

  /** Where Content-Length may be, and what may look like it. */
  const [host = '', type = ''] = plain;
  const shapes: ((length: string, decoy: string) => { first?: string; lines: string[] })[] = [
    (length) => ({ lines: [host, type, `Content-Length: ${length}`, 'X-API-Key: k'] }),
    (length) => ({ lines: [`content-length:\t${length}`, host, type] }),
    (length) => ({ lines: [host, type, `CONTENT-LENGTH:${length} \t`] }),
    (length, decoy) => ({
      lines: [host, type, `X-Content-Length: ${decoy}`, `Content-Length: ${length}`],
    }),
    (length, decoy) => ({
      lines: [host, type, `X-A: content-length: ${decoy}`, `Content-Length: ${length}`],
    }),
    (length, decoy) => ({
      first: `POST /events?content-length:${decoy} HTTP/1.1`,
      lines: [host, type, `Content-Length: ${length}`],
    }),
  ];
  const lengths = ['15', '14', '1', '016', '0', '', '1x', '15 ', '12345678', '+15', '15,15'];
  /** Another request that shares most of its bytes with the first. */
  const changed = fc.record({
    shape: fc.constantFrom(...shapes),
    length: fc.constantFrom(...lengths),
    decoy: fc.constantFrom('15', '5', '150'),
    at: fc.nat({ max: 120 }),
    byte: fc.option(fc.constantFrom(...Buffer.from('\r\n:a0 \u0000')), { nil: undefined, freq: 2 }),
    cut: fc.option(fc.nat({ max: 120 }), { nil: undefined, freq: 2 }),
    rest: fc.option(fc.nat({ max: 17 }), { nil: undefined, freq: 2 }),
  });

  it('or a changed one, is read as by a reader without the first', () => {
    let again = 0;
    fc.assert(
      fc.property(changed, ({ shape, length, decoy, at, byte, cut, rest }) => {
        const requestOf = (lengthSaid: string, decoySaid: string, bodyLength: number): Buffer => {
          const { first, lines } = shape(lengthSaid, decoySaid);
          return bytesOf(lines, { ...(first && { first }), rest: 'y'.repeat(bodyLength) });
        };
        const reader = new WholeReader();
        const first = reader.read(requestOf('15', '15', 15));
        assert(typeof first === 'object');
        const announced = Math.min(Number.parseInt(length) || 0, 17);
        const bytes = requestOf(length, decoy, rest ?? announced);
        if (byte !== undefined && at < bytes.length) bytes[at] = byte;
        const reading = reader.read(bytes.subarray(0, cut));
        assert.deepEqual(reading, readWhole(bytes.subarray(0, cut)));
        if (typeof reading === 'object' && reading.head === first.head) again += 1;
      }),
      { numRuns: 3_000 },
    );
    assert(again > 20, `only ${again} were the same head`);
  });
});

describe('readWhole returns doubt for', () => {
  const without = (name: string): string[] => plain.filter((line) => !line.startsWith(name));
  const cases: Record<string, Buffer> = {
    'half a head': bytesOf(plain).subarray(0, 40),
    'what comes behind it': bytesOf(plain, { rest: `${body}P` }),
    'another method': bytesOf(plain, { first: 'PUT /events HTTP/1.1' }),
    'a method in small letters': bytesOf(plain, { first: 'post /events HTTP/1.1' }),
    'HTTP/1.0': bytesOf(plain, { first: 'POST /events HTTP/1.0' }),
    'an origin before the path': bytesOf(plain, { first: 'POST http://x/events HTTP/1.1' }),
    'two spaces': bytesOf(plain, { first: 'POST  /events HTTP/1.1' }),
    'a space in the path': bytesOf(plain, { first: 'POST /events /x HTTP/1.1' }),
    'a path beyond ASCII': bytesOf(plain, { first: 'POST /ev\xe9nts HTTP/1.1' }),
    'a line before it': Buffer.concat([Buffer.from('\r\n'), bytesOf(plain)]),
    'no host': bytesOf(without('Host')),
    'two hosts': bytesOf([...plain, 'host: y']),
    'no length': bytesOf(without('Content-Length')),
    'two lengths': bytesOf([...plain, `content-length: ${body.length}`]),
    'a list of lengths': bytesOf([...without('Content-Length'), 'Content-Length: 15, 15']),
    'a length with a sign': bytesOf([...without('Content-Length'), 'Content-Length: +15']),
    'a length with zeros in front': bytesOf([...without('Content-Length'), 'Content-Length: 015']),
    'a length of none': bytesOf([...without('Content-Length'), 'Content-Length: 0'], { rest: '' }),
    'a length of eight digits': bytesOf([...without('Content-Length'), 'Content-Length: 10000000']),
    'pieces that say their own length': bytesOf([...plain, 'Transfer-Encoding: chunked']),
    'an expectation': bytesOf([...plain, 'Expect: 100-continue']),
    'another protocol': bytesOf([...plain, 'Upgrade: h2c']),
    'a trailer': bytesOf([...plain, 'Trailer: x']),
    'a connection that closes': bytesOf([...plain, 'Connection: close']),
    'a connection that closes and stays': bytesOf([...plain, 'Connection: keep-alive, close']),
    'two words about the connection': bytesOf([
      ...plain,
      'Connection: keep-alive',
      'Connection: close',
    ]),
    'no media type': bytesOf(without('Content-Type')),
    'another media type': bytesOf([...without('Content-Type'), 'Content-Type: text/plain']),
    'another charset': bytesOf([
      ...without('Content-Type'),
      'Content-Type: application/json; charset=latin1',
    ]),
    'a space before the colon': bytesOf([...plain, 'X-A : b']),
    'a line that goes on': bytesOf([...plain, 'X-A: b', ' c']),
    'no colon': bytesOf([...plain, 'X-A']),
    'no name': bytesOf([...plain, ': b']),
    'a name with a bracket': bytesOf([...plain, 'X(A): b']),
    'a bare CR': bytesOf([...plain, 'X-A: b\rTransfer-Encoding: chunked']),
    'a bare LF': bytesOf([...plain, 'X-A: b\nTransfer-Encoding: chunked']),
    'very many lines': bytesOf([...plain, ...Array<string>(limits.directLinesMax).fill('a:')]),
    'a word to a proxy about the connection': bytesOf([...plain, 'Proxy-Connection: close']),
    'a NUL': bytesOf([...plain, 'X-A: b\0']),
    'a value beyond ASCII': bytesOf([...plain, 'X-A: \xe9']),
    'a head that is too large': bytesOf([
      ...plain,
      `X-A: ${'b'.repeat(limits.directHeadBytesMax)}`,
    ]),
  };
  for (const [name, bytes] of Object.entries(cases)) {
    it(name, () => assert.equal(readWhole(bytes), 'doubt'));
  }
});

describe('readWhole', () => {
  let server: Server;
  before(async () => {
    server = createServer((request, response) => {
      void (async () => {
        const { method, url, headersDistinct } = request;
        const read = (await buffer(request)).toString('latin1');
        response.end(JSON.stringify({ method, url, headersDistinct, body: read }));
      })();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close().closeAllConnections());

  /** What Node's own server reads from the same bytes. */
  async function readByNode(bytes: Buffer): Promise<unknown> {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ host: '127.0.0.1', port });
    socket.end(bytes);
    const text = (await buffer(socket)).toString();
    const end = text.indexOf('\r\n\r\n');
    return text.startsWith('HTTP/1.1 200') ? (JSON.parse(text.slice(end + 4)) as unknown) : text;
  }

  const odd = fc.constantFrom(
    'Transfer-Encoding: chunked',
    'Content-Length: 3',
    'content-length : 15',
    'Host: y',
    'X: \t a \t',
    'X-A: b\rY: c',
    'X-A: b\nContent-Length: 2',
    ' folded',
    'X-\u0000: a',
    '__proto__: x',
    'Connection: upgrade',
    'Transfer-Encoding:\tchunked',
    'Transfer_Encoding: chunked',
    'Content-Length:15',
    'Cookie: a=b; c=d',
    ':',
  );
  const anyLine = fc.string({
    unit: fc.constantFrom(...Array.from('aZ-:; \t=,\r\n\u00001"\u00e9')),
    maxLength: 12,
  });
  const anyRequest = fc
    .record({
      lines: fc.array(fc.oneof(odd, anyLine), { maxLength: 4 }),
      at: fc.nat({ max: 3 }),
      first: fc.constantFrom(
        'POST /events HTTP/1.1',
        'POST /events?a=b#c HTTP/1.1',
        'POST /a//../b HTTP/1.1',
      ),
    })
    .map(({ lines, at, first }) => bytesOf(plain.toSpliced(at, 0, ...lines), { first }));

  it('reads what Node would have read, whatever the bytes', async () => {
    let read = 0;
    await fc.assert(
      fc.asyncProperty(anyRequest, async (bytes) => {
        const reading = readWhole(bytes);
        if (typeof reading !== 'object') return;
        read += 1;
        const { url, headersDistinct } = reading.head;
        const expected = {
          method: 'POST',
          url,
          headersDistinct: { ...headersDistinct, 'content-length': [String(reading.body.length)] },
          body: reading.body.toString('latin1'),
        };
        assert.deepEqual(await readByNode(bytes), JSON.parse(JSON.stringify(expected)));
      }),
      { numRuns: 600 },
    );
    assert(read > 60, `only ${read} were read at all`);
  });
});
