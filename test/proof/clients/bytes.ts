// Sends ambiguous requests, which two HTTP parsers could read differently, and malformed ones. Each must get
// exactly one response, and a request smuggled inside another must never be executed.
import type { Attempt } from './target.ts';
import {
  exchange,
  jsonRequest,
  readAnswers,
  openWire,
  requestOf,
  type WireAnswer,
} from './wire.ts';
import { until } from './siege.ts';

/** The event that the smuggled requests try to publish. */
const hidden = 'smuggled.event';

interface Trick {
  name: string;
  bytes: string;
  /** The expected statuses, in order. */
  answers: readonly number[];
  /** It closes the connection at once, and drops requests in flight on it. */
  isAlone?: true;
}

function tricksWith(key: string): Trick[] {
  const body = '{"event":"plain.event","payload":{"message":"m"}}';
  const inner = jsonRequest('POST /events', key, `{"event":"${hidden}","payload":{"message":"m"}}`);
  const keyed = [`X-API-Key: ${key}`, 'Content-Type: application/json'];
  const length = `Content-Length: ${body.length}`;
  const size = body.length.toString(16);
  const post = (headers: readonly string[], rest: string): string =>
    requestOf('POST /events', [...keyed, ...headers], rest);
  const chunked = (rest: string, header = 'Transfer-Encoding: chunked'): string =>
    post([header], rest);
  const refused = (name: string, bytes: string): Trick => ({ name, bytes, answers: [400] });
  const plain = `${size}\r\n${body}\r\n0\r\n\r\n`;
  return [
    refused(
      'length and chunks',
      post(['Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${inner}`),
    ),
    refused(
      'chunks and length',
      post(['Transfer-Encoding: chunked', 'Content-Length: 5'], `0\r\n\r\n${inner}`),
    ),
    refused('two lengths', post(['Content-Length: 0', length], inner)),
    refused('one length twice', post([length, length], body + inner)),
    refused('a list of lengths', post([`${length}, 0`], body + inner)),
    ...['+5', '-1', '0x5', '5;', '5 5', '1e3', '99999999999999999999', '٥'].map((text) =>
      refused(
        `the length ${text}`,
        post([`Content-Length: ${Buffer.from(text).toString('latin1')}`], inner),
      ),
    ),
    ...[
      'chunked, identity',
      'xchunked',
      'chunked, chunked',
      '\vchunked',
      'chunked\0',
      'identity',
      '"chunked"',
    ].map((text) =>
      refused(
        `the encoding ${JSON.stringify(text)}`,
        chunked(`0\r\n\r\n${inner}`, `Transfer-Encoding: ${text}`),
      ),
    ),
    refused(
      'two encodings',
      post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${inner}`),
    ),
    refused(
      'a space before the colon',
      chunked(`0\r\n\r\n${inner}`, 'Transfer-Encoding : chunked'),
    ),
    refused(
      'a length with a space before the colon',
      post([`Content-Length : ${body.length}`], body + inner),
    ),
    refused('a folded header', post(['X-A: b\r\n c', length], body + inner)),
    refused('a folded encoding', post(['Transfer-Encoding:\r\n chunked', length], inner)),
    refused('a bare line feed', post([`X-A: b\nTransfer-Encoding: chunked`, length], inner)),
    refused('a bare carriage return', post([`X-A: b\rTransfer-Encoding: chunked`, length], inner)),
    refused('line feeds only', post([length], body).replaceAll('\r\n', '\n')),
    refused('a zero byte in a header', post([`X-A: b\0`, length], body + inner)),
    refused('a name with a zero byte', post([`X\0-A: b`, length], body + inner)),
    refused('a header without a name', post([': b', length], body + inner)),
    refused('a header without a colon', post(['nothing', length], body + inner)),
    refused('a chunk of 0x', chunked(`0x${size}\r\n${body}\r\n0\r\n\r\n${inner}`)),
    refused('a chunk with a space', chunked(`${size} \r\n${body}\r\n0\r\n\r\n${inner}`)),
    refused('a chunk of -1', chunked(`-1\r\n${inner}`)),
    refused('a chunk of 2^64', chunked(`10000000000000000\r\n${inner}`)),
    refused('a chunk that does not end', chunked(`${size}\r\n${body}XX0\r\n\r\n${inner}`)),
    refused('a chunk with a bare line feed', chunked(`${size}\n${body}\r\n0\r\n\r\n${inner}`)),
    refused(
      'an extension with a bare line feed',
      chunked(`${size};a\n${body}\r\n0\r\n\r\n${inner}`),
    ),
    refused(
      'an extension of 64 KiB',
      chunked(`${size};${'a'.repeat(65_536)}\r\n${body}\r\n0\r\n\r\n`),
    ),
    { name: 'an extension', bytes: chunked(`${size};a=b\r\n${body}\r\n0\r\n\r\n`), answers: [202] },
    {
      name: 'trailers that look like a key',
      bytes: requestOf(
        'POST /events',
        ['Content-Type: application/json', 'Transfer-Encoding: chunked'],
        `${size}\r\n${body}\r\n0\r\nX-API-Key: ${key}\r\n\r\n`,
      ),
      answers: [401],
    },
    {
      name: 'a body of a GET',
      bytes: requestOf('GET /healthz', [`Content-Length: ${inner.length}`], inner),
      answers: [200],
    },
    {
      name: 'a body of a refused request',
      bytes: requestOf('POST /events', [`Content-Length: ${inner.length}`], inner),
      answers: [401],
    },
    {
      name: 'a body of a path that is none',
      bytes: requestOf('POST /nowhere', [`Content-Length: ${inner.length}`], inner),
      answers: [404],
    },
    {
      name: 'a request behind the last one',
      bytes: requestOf('GET /healthz', ['Connection: close']) + inner,
      answers: [200],
    },
    {
      name: 'a request behind the last one of HTTP/1.0',
      bytes: `GET /healthz HTTP/1.0\r\n\r\n${inner}`,
      answers: [200],
    },
    {
      name: 'an upgrade',
      bytes: requestOf('GET /healthz', ['Connection: Upgrade', 'Upgrade: h2c']),
      answers: [200],
    },
    {
      name: 'an upgrade of a body',
      bytes: post(['Connection: Upgrade', 'Upgrade: websocket', length], body),
      answers: [202],
    },
    {
      name: 'an origin before the path',
      bytes: requestOf('GET http://127.0.0.1:1/healthz'),
      answers: [200],
    },
    {
      name: 'a tunnel',
      bytes: `CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n${inner}`,
      answers: [],
      isAlone: true,
    },
    { name: 'no path', bytes: requestOf('GET *'), answers: [404] },
    { name: 'two slashes', bytes: requestOf('GET //healthz'), answers: [404] },
    refused('HTTP/0.9', `GET /healthz\r\n\r\n`),
    refused('HTTP/1.2', 'GET /healthz HTTP/1.2\r\nHost: x\r\n\r\n'),
    refused('the beginning of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    refused(
      'the beginning of TLS',
      `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${'a'.repeat(600)}`,
    ),
    refused('an unknown method', requestOf('FROB /healthz')),
    refused('a method of 20 KB', requestOf(`${'A'.repeat(20_000)} /`)),
    refused('a zero byte in the path', requestOf('GET /healthz\0')),
    refused('no Host', 'GET /healthz HTTP/1.1\r\n\r\n'),
    refused('two Hosts', requestOf('GET /healthz', ['Host: y'])),
    { name: 'a path of 20 KB', bytes: requestOf(`GET /${'a'.repeat(20_000)}`), answers: [431] },
    {
      name: 'a header of 20 KB',
      bytes: requestOf('GET /healthz', [`X-A: ${'a'.repeat(20_000)}`]),
      answers: [431],
    },
    {
      name: '3,000 headers',
      bytes: requestOf(
        'GET /healthz',
        Array.from({ length: 3_000 }, (_, i) => `a${i}: b`),
      ),
      answers: [431],
    },
    {
      name: 'trailers of 30 KB',
      bytes: chunked(`${size}\r\n${body}\r\n0\r\n${'X-A: b\r\n'.repeat(4_000)}\r\n`),
      answers: [431],
    },
    {
      name: 'a path of 9 KB, read as a query parameter that is not declared',
      bytes: requestOf(`GET /healthz?${'a'.repeat(9_000)}`),
      answers: [400],
    },
    { name: 'an expectation', bytes: post([length, 'Expect: 100-continue'], body), answers: [202] },
    {
      name: 'an expectation that nobody knows',
      bytes: post([length, 'Expect: a miracle'], body),
      answers: [202],
    },
    { name: 'plain chunks', bytes: chunked(plain), answers: [202] },
  ];
}

/** Stop after this many violations: a parser with one flaw usually shows many. */
const enough = 3;

/** Sends each trick alone, and again behind a good request, whose response must come first. */
export async function trickParsers({ target, figures, violations }: Attempt): Promise<void> {
  const tricks = tricksWith(target.key);
  const good = requestOf('GET /healthz', ['X-Request-Id: good']);
  let tried = 0;
  for (const { name, bytes, answers, isAlone } of tricks) {
    if (violations.length >= enough) break;
    for (const behind of isAlone === true ? [''] : ['', good]) {
      tried += 1;
      const expected = behind === '' ? answers : [200, ...answers];
      const heard = await exchange(target.url, behind + bytes, Math.max(expected.length, 1));
      const found = heard.answers.map(({ status }) => status);
      if (!heard.isInTime)
        violations.push(`I11: ${name}: the connection stays open, received ${found.join()}`);
      if (found.join() !== expected.join()) {
        violations.push(`desync: ${name}: answered ${found.join()}, expected ${expected.join()}`);
      }
    }
  }
  const { json } = await target.call({ path: `/events?event=${hidden}` });
  const done = (json['items'] as unknown[]).length;
  if (done > 0) violations.push(`smuggled: ${done} hidden requests were executed`);
  figures['ways to write a request'] = tried;
}

/** Pipelines hundreds of mixed requests in one write: each must get its complete response, in order. */
export async function pipeline(
  { target, figures, violations }: Attempt,
  rounds: number,
): Promise<void> {
  const kinds = [
    (id: string) => requestOf('GET /healthz', [id]),
    (id: string) => requestOf('GET /openapi.json', [id]),
    (id: string) => requestOf('GET /nowhere', [id]),
    (id: string) => requestOf('GET /subscriptions', [id]),
    (id: string) =>
      jsonRequest('POST /events', target.key, '{"event":"a.b","payload":{"message":"m"}}', [id]),
    (id: string) => jsonRequest('POST /events', target.key, '{', [id]),
    (id: string) => requestOf('HEAD /healthz', [id]),
  ];
  const statuses = [200, 200, 404, 401, 202, 400, 200];
  const count = 300;
  for (let round = 0; round < rounds; round += 1) {
    using wire = openWire(target.url);
    const asked = Array.from({ length: count }, (_, i) => (i * (round + 1) + round) % kinds.length);
    wire.socket.write(
      asked.map((kind, i) => kinds[kind]?.(`X-Request-Id: id-${i}`) ?? '').join(''),
      'latin1',
    );
    let heard: WireAnswer[] = [];
    const isIn = await until(() => {
      heard = readAnswers(wire.heard(), (n) => asked[n] === 6);
      return heard.length >= count;
    }, 30_000);
    const wrong = asked.findIndex(
      (kind, i) =>
        heard[i]?.status !== statuses[kind] ||
        !heard[i]?.head.includes(`x-request-id: id-${i}\r\n`),
    );
    if (!isIn) violations.push(`desync: ${heard.length} answers to ${count} requests in one write`);
    else if (wrong >= 0)
      violations.push(`desync: answer ${wrong} is not to request ${wrong}: ${heard[wrong]?.head}`);
  }
  figures['requests in one write'] = count;
  figures['writes of so many'] = rounds;
}
