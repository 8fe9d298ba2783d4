// What the gateway does with requests that are not for Ringback, over real sockets: one row for each sentence.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Span } from '../../src/core/telemetry/trace.ts';
import {
  answering,
  bodyOf,
  headOf,
  sendRaw,
  startGateway,
  talk,
  valuesOf,
  type Gateway,
  type Script,
} from './stage.ts';

interface Row {
  says: string;
  /** Without the final empty line; `Host` and `Connection: close` are added. */
  head: string;
  body?: string;
  script?: Script;
  /** What the API got. */
  got?: (request: string) => void;
  /** What the caller got. */
  gets?: (answer: string) => void;
}

const rows: Row[] = [
  {
    says: 'keeps path and query as they are spelled',
    head: 'GET /a%zz/../b//c|d;e?x=%20+&y&%00 HTTP/1.1',
    got: (request) => assert.match(request, /^GET \/a%zz\/\.\.\/b\/\/c\|d;e\?x=%20\+&y&%00 HTTP/),
  },
  {
    says: 'passes on methods that it does not know',
    head: 'PROPFIND /files HTTP/1.1',
    got: (request) => assert.match(request, /^PROPFIND \/files /),
  },
  {
    says: 'takes the path from a request target with an origin',
    head: 'GET http://api.test/x?y HTTP/1.1',
    got: (request) => assert.match(request, /^GET \/x\?y HTTP/),
  },
  {
    says: 'keeps headers in their order and spelling, repeated ones too',
    head: 'GET / HTTP/1.1\nX-B: 1\nx-a: 2\nX-B: 3\nCookie: a=1\nCookie: b=2',
    got: (request) => {
      const own = headOf(request).filter((line) => /^(?:x-[ab]|cookie):/i.test(line));
      assert.deepEqual(own, ['X-B: 1', 'x-a: 2', 'X-B: 3', 'Cookie: a=1', 'Cookie: b=2']);
    },
  },
  {
    says: 'keeps the Host header of the caller',
    head: 'GET / HTTP/1.1',
    got: (request) => assert.deepEqual(valuesOf(request, 'host'), ['api.test']),
  },
  {
    says: 'keeps credentials, which the API decides about',
    head: 'GET / HTTP/1.1\nAuthorization: Bearer t0ken\nX-API-Key: k3y',
    got: (request) => {
      assert.deepEqual(valuesOf(request, 'authorization'), ['Bearer t0ken']);
      assert.deepEqual(valuesOf(request, 'x-api-key'), ['k3y']);
    },
  },
  {
    says: 'removes headers of the connection, and those that Connection names',
    head:
      'GET / HTTP/1.1\nConnection: x-private, keep-alive\nX-Private: 1\nKeep-Alive: timeout=9\n' +
      'Proxy-Authorization: Basic eA==\nProxy-Connection: keep-alive\nTE: gzip\nTrailer: X-Sum',
    got: (request) => {
      for (const name of ['x-private', 'keep-alive', 'proxy-authorization', 'proxy-connection']) {
        assert.deepEqual(valuesOf(request, name), [], name);
      }
      assert.deepEqual(valuesOf(request, 'te'), []);
      assert.deepEqual(valuesOf(request, 'trailer'), []);
    },
  },
  {
    says: 'does not let Connection remove what the message depends on, or what Ringback sets',
    head:
      'POST / HTTP/1.1\nConnection: host, content-length, content-type, x-forwarded-for\n' +
      'Content-Type: text/plain\nContent-Length: 2',
    body: 'ab',
    got: (request) => {
      assert.deepEqual(valuesOf(request, 'content-length'), ['2']);
      assert.deepEqual(valuesOf(request, 'content-type'), ['text/plain']);
      assert.deepEqual(valuesOf(request, 'x-forwarded-for'), ['127.0.0.1']);
      assert.equal(bodyOf(request), 'ab');
    },
  },
  {
    says: 'names the caller in Forwarded and X-Forwarded-*, whatever the caller says of itself',
    head:
      'GET / HTTP/1.1\nX-Forwarded-For: 10.0.0.1\nX-Forwarded-Proto: https\nForwarded: for=10.0.0.1\n' +
      'X_Forwarded_For: 10.0.0.2\nX-Real-IP: 10.0.0.3\nX-Forwarded-Prefix: /evil',
    got: (request) => {
      assert.deepEqual(valuesOf(request, 'x-forwarded-for'), ['127.0.0.1']);
      assert.deepEqual(valuesOf(request, 'x-forwarded-proto'), ['http']);
      assert.deepEqual(valuesOf(request, 'x-forwarded-host'), ['api.test']);
      assert.deepEqual(valuesOf(request, 'forwarded'), [
        'for=127.0.0.1;host="api.test";proto=http',
      ]);
      assert.doesNotMatch(request, /10\.0\.0|evil/);
    },
  },
  {
    says: 'does not pass on headers that only Ringback may set',
    head: 'GET / HTTP/1.1\nRingback-App: app_x\nRINGBACK_KEY: k\nRingback-Subscription: sub_x',
    got: (request) => assert.doesNotMatch(request, /ringback/i),
  },
  {
    says: 'gives the request an id, which is in its log line, too',
    head: 'GET / HTTP/1.1',
    got: (request) => assert.match(valuesOf(request, 'x-request-id').join(), /^req_\w{26}$/),
  },
  {
    says: 'keeps the id and the trace of the caller',
    head:
      'GET / HTTP/1.1\nX-Request-Id: mine\nTracestate: a=b\n' +
      'Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
    got: (request) => {
      assert.deepEqual(valuesOf(request, 'x-request-id'), ['mine']);
      assert.deepEqual(valuesOf(request, 'traceparent'), [
        '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
      ]);
      assert.deepEqual(valuesOf(request, 'tracestate'), ['a=b']);
    },
  },
  {
    says: 'sends a body of a known length with that length',
    head: 'POST / HTTP/1.1\nContent-Length: 4',
    body: '\x00\xff\r\n',
    got: (request) => assert.equal(bodyOf(request), '\x00\xff\r\n'),
  },
  {
    says: 'sends a chunked body in chunks',
    head: 'POST / HTTP/1.1\nTransfer-Encoding: chunked',
    body: '2;x=1\r\nxy\r\n1\r\nz\r\n0\r\nX-Sum: 1\r\n\r\n',
    got: (request) => {
      assert.doesNotMatch(request, /x-sum/i, 'trailers of a request are left out');
      assert.deepEqual(valuesOf(request, 'transfer-encoding'), ['chunked']);
      assert.equal(bodyOf(request).replaceAll(/[0-9a-f]+\r\n|\r\n/gu, ''), 'xyz');
    },
  },
  {
    says: 'keeps a length of zero',
    head: 'POST / HTTP/1.1\nContent-Length: 0',
    got: (request) => assert.deepEqual(valuesOf(request, 'content-length'), ['0']),
  },
  {
    says: 'answers Expect: 100-continue itself',
    head: 'PUT / HTTP/1.1\nExpect: 100-continue\nContent-Length: 2',
    body: 'ab',
    got: (request) => assert.deepEqual(valuesOf(request, 'expect'), []),
    gets: (answer) => assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/),
  },
  {
    says: 'returns the answer of the API byte for byte, and adds nothing',
    head: 'GET / HTTP/1.1',
    script: (_request, socket) =>
      socket.write(
        'HTTP/1.1 299 Quite Fine\r\nx-B: \xe9\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n' +
          'Content-Length: 3\r\n\r\n\x00\xff\x0a',
        'latin1',
      ),
    gets: (answer) => {
      assert.deepEqual(headOf(answer), [
        'HTTP/1.1 299 Quite Fine',
        'x-B: \xe9',
        'Set-Cookie: a=1',
        'set-cookie: b=2',
        'Content-Length: 3',
      ]);
      assert.equal(bodyOf(answer), '\x00\xff\x0a');
    },
  },
  ...['401 Who', '404 Not Found', '500 Broken', '503 Later'].map((status): Row => ({
    says: `returns ${status} of the API as it is`,
    head: 'GET / HTTP/1.1',
    script: (_request, socket) =>
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nRetry-After: 3\r\n` +
          'WWW-Authenticate: Basic\r\nContent-Length: 14\r\n\r\n{"code":"own"}',
      ),
    gets: (answer) => {
      assert.deepEqual(headOf(answer), [
        `HTTP/1.1 ${status}`,
        'Content-Type: application/problem+json',
        'Retry-After: 3',
        'WWW-Authenticate: Basic',
        'Content-Length: 14',
      ]);
      assert.equal(bodyOf(answer), '{"code":"own"}');
    },
  })),
  {
    says: 'returns a redirect of the API, which it does not follow',
    head: 'POST / HTTP/1.1\nContent-Length: 0',
    script: (_request, socket) =>
      socket.write('HTTP/1.1 307 Over There\r\nLocation: /new\r\nContent-Length: 0\r\n\r\n'),
    gets: (answer) =>
      assert.deepEqual(headOf(answer), [
        'HTTP/1.1 307 Over There',
        'Location: /new',
        'Content-Length: 0',
      ]),
  },
  {
    says: 'removes headers of the connection from the answer',
    head: 'GET / HTTP/1.1',
    script: answering('', [
      'Connection: x-private, keep-alive',
      'X-Private: 1',
      'Keep-Alive: timeout=7',
      'Upgrade: h2',
      'Proxy-Authenticate: Basic',
    ]),
    gets: (answer) => assert.deepEqual(headOf(answer), ['HTTP/1.1 200 OK', 'Content-Length: 0']),
  },
  {
    says: 'answers HEAD with the length and no body',
    head: 'HEAD / HTTP/1.1',
    script: (_request, socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: "1"\r\n\r\n'),
    gets: (answer) => {
      assert.deepEqual(headOf(answer), ['HTTP/1.1 200 OK', 'Content-Length: 5', 'ETag: "1"']);
      assert.equal(bodyOf(answer), '');
    },
  },
  ...['204 No Content', '304 Not Modified'].map((status): Row => ({
    says: `returns ${status} without a body`,
    head: 'GET / HTTP/1.1',
    script: (_request, socket) => socket.write(`HTTP/1.1 ${status}\r\nETag: "1"\r\n\r\n`),
    gets: (answer) => {
      assert.deepEqual(headOf(answer), [`HTTP/1.1 ${status}`, 'ETag: "1"']);
      assert.equal(bodyOf(answer), '');
    },
  })),
  {
    says: 'returns an answer that ends with the connection',
    head: 'GET / HTTP/1.1',
    script: (_request, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nall of it'),
    gets: (answer) => assert.equal(bodyOf(answer), '9\r\nall of it\r\n0\r\n\r\n'),
  },
  {
    says: 'returns trailers',
    head: 'GET / HTTP/1.1\nTE: trailers',
    script: (_request, socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n' +
          '1\r\na\r\n0\r\nX-Sum: 42\r\n\r\n',
      ),
    got: (request) => assert.deepEqual(valuesOf(request, 'te'), ['trailers']),
    gets: (answer) => {
      assert.deepEqual(valuesOf(answer, 'trailer'), ['X-Sum']);
      assert.equal(bodyOf(answer), '1\r\na\r\n0\r\nX-Sum: 42\r\n\r\n');
    },
  },
  {
    says: 'returns early hints',
    head: 'GET / HTTP/1.1',
    script: (_request, socket) =>
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n' +
          'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
      ),
    gets: (answer) =>
      assert.match(
        answer,
        /^HTTP\/1\.1 103 .*\r\nLink: <\/a\.css>; rel=preload\r\n\r\nHTTP.* 200/i,
      ),
  },
  {
    says: 'keeps other interim answers for itself',
    head: 'GET / HTTP/1.1',
    script: (_request, socket) =>
      socket.write('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    gets: (answer) => assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/),
  },
  {
    says: 'passes on HTTP/1.0, without chunks in the answer',
    head: 'GET / HTTP/1.0',
    script: (_request, socket) =>
      socket.write(
        'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
      ),
    gets: (answer) => assert.deepEqual([headOf(answer).length, bodyOf(answer)], [1, 'a']),
  },
  {
    says: 'ignores an offer of HTTP/2, as HTTP allows',
    head: 'GET / HTTP/1.1\nConnection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABk',
    got: (request) => assert.doesNotMatch(request, /upgrade|settings/i),
  },
];

/** Refused before the API sees anything of them. */
const refused: { says: string; text: string; status: number; code?: string }[] = [
  {
    says: 'a WebSocket, which it does not support',
    text: 'GET / HTTP/1.1\nHost: a\nConnection: Upgrade, close\nUpgrade: websocket\n\n',
    status: 501,
    code: 'upgrade_not_supported',
  },
  { says: 'no Host header', text: 'GET / HTTP/1.1\nConnection: close\n\n', status: 400 },
  {
    says: 'two Host headers',
    text: 'GET / HTTP/1.1\nHost: a\nHost: b\nConnection: close\n\n',
    status: 400,
  },
  {
    says: 'a request target for another host than the Host header',
    text: 'GET http://b/ HTTP/1.1\nHost: a\nConnection: close\n\n',
    status: 400,
  },
  ...[
    ['a length and chunks', 'Content-Length: 3\nTransfer-Encoding: chunked'],
    ['two lengths', 'Content-Length: 3\nContent-Length: 4'],
    ['two lengths in one line', 'Content-Length: 3, 4'],
    ['a length with a sign', 'Content-Length: +3'],
    ['an unknown transfer coding', 'Transfer-Encoding: xchunked'],
    ['a second transfer coding', 'Transfer-Encoding: gzip, chunked'],
    ['chunks that are not the last coding', 'Transfer-Encoding: chunked, gzip'],
    ['a space before the colon', 'Transfer-Encoding : chunked'],
    ['a folded line', 'Transfer-Encoding:\n chunked'],
    ['a control character in the coding', 'Transfer-Encoding: \x0bchunked'],
    ['chunks twice', 'Transfer-Encoding: chunked\nTransfer-Encoding: chunked'],
    ['a quoted coding', 'Transfer-Encoding: "chunked"'],
  ].map(([says = '', lines = '']) => ({
    says,
    text: `POST / HTTP/1.1\nHost: a\n${lines}\nConnection: close\n\n0\n\nGET /smuggled HTTP/1.1\nHost: a\n\n`,
    status: 400,
  })),
  {
    says: 'chunks in HTTP/1.0',
    text: 'POST / HTTP/1.0\nHost: a\nTransfer-Encoding: chunked\n\n0\n\n',
    status: 400,
  },
];

describe('the gateway', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(async () => gateway[Symbol.asyncDispose]());

  for (const { says, head, body = '', script = answering(''), got, gets } of rows) {
    it(says, async () => {
      const { api, service } = gateway;
      api.requests.length = 0;
      api.script = script;
      const host = 'Host: api.test';
      const whole = `${head}\n${host}\nConnection: close\n\n`.replaceAll('\n', '\r\n') + body;
      const answer = await sendRaw(service.url, whole);
      assert.doesNotMatch(answer, /ringback/i);
      assert.equal(api.requests.length, 1);
      got?.(api.requests[0] ?? '');
      gets?.(answer);
    });
  }

  for (const { says, text, status, code = 'malformed_request' } of refused) {
    it(`refuses ${says}`, async () => {
      const { api, service } = gateway;
      api.requests.length = 0;
      api.script = answering('');
      const answer = await talk(service.url, text);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), answer);
      const problem = JSON.parse(bodyOf(answer)) as Record<string, unknown>;
      assert.equal(problem['code'], code, answer);
      assert.match(valuesOf(answer, 'content-type').join(), /^application\/problem\+json/);
      assert.deepEqual(api.requests, []);
    });
  }

  it('keeps the management API below /ringback, and leaves all other paths to the API', async () => {
    const { api, service } = gateway;
    api.script = answering('the API');
    for (const path of ['/ringback/healthz', '/ringback/readyz', '/ringback/openapi.json']) {
      assert.equal((await service.call({ path })).status, 200, path);
      assert.notEqual((await service.call({ path })).text, 'the API', path);
    }
    assert.equal((await service.call({ path: '/ringback/nothing' })).status, 404);
    for (const path of ['/', '/healthz', '/events', '/subscribe', '/ringback2', '/%72ingback/x']) {
      assert.equal((await service.call({ path })).text, 'the API', path);
    }
    const event = { event: 'paid', payload: { message: 'x' } };
    const sent = await service.call({ method: 'POST', path: '/ringback/events', body: event });
    assert.equal(sent.status, 202, sent.text);
  });

  it('logs and counts what it passes on, without its URL', async () => {
    const { api, service } = gateway;
    api.script = answering('');
    await service.call({ path: '/secret/path?token=1', headers: { 'x-request-id': 'logged' } });
    const line =
      service
        .logged()
        .split('\n')
        .find((one) => one.includes('"logged"')) ?? '';
    assert.match(line, /"method":"GET","status":200,.*"operation":"passThrough"/);
    assert.doesNotMatch(service.logged(), /secret\/path/);
    const metrics = await service.call({ path: '/ringback/metrics' });
    assert.match(metrics.text, /ringback_requests_total\{operation="passThrough",status="2xx"\} /);
  });

  it('leaves /ringback to the API, too, if the management API is elsewhere', async () => {
    await using elsewhere = await startGateway({ RINGBACK_MANAGE_PREFIX: '/_hooks' });
    const { api, service } = elsewhere;
    api.script = answering('the API');
    assert.equal((await service.call({ path: '/ringback/events' })).text, 'the API');
    assert.equal((await service.call({ path: '/_hooks/readyz' })).status, 200);
  });

  it('gives the API a span of its own as parent, if traces are collected', async () => {
    const spans: Span[] = [];
    const tracer = { isSampled: () => true, record: (span: Span) => void spans.push(span) };
    await using traced = await startGateway({}, { tracer });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const lines = `Traceparent: 00-${traceId}-b7ad6b7169203331-01\nTracestate: a=b`;
    await talk(traced.service.url, `GET / HTTP/1.1\nHost: in\n${lines}\nConnection: close\n\n`);
    await talk(traced.service.url, 'GET / HTTP/1.1\nHost: in\nConnection: close\n\n');
    const [given = '', begun = ''] = traced.api.requests;
    const passing = spans.filter(({ name }) => name === 'pass-through');
    assert.deepEqual(
      passing.map(({ parentId }) => parentId),
      ['b7ad6b7169203331', undefined],
    );
    const parents = passing.map(({ context }) => `00-${context.traceId}-${context.spanId}-01`);
    assert.deepEqual(
      [given, begun].map((request) => valuesOf(request, 'traceparent')),
      parents.map((parent) => [parent]),
    );
    assert.equal(passing[0]?.context.traceId, traceId);
    assert.deepEqual(valuesOf(given, 'tracestate'), ['a=b']);
  });

  it('believes a proxy in front, if RINGBACK_TRUST_PROXY is on', async () => {
    await using trusting = await startGateway({ RINGBACK_TRUST_PROXY: 'on' });
    const { api, service } = trusting;
    const lines = 'X-Forwarded-For: 10.0.0.1\nX-Forwarded-Proto: https\nForwarded: for=10.0.0.1';
    await talk(service.url, `GET / HTTP/1.1\nHost: in\n${lines}\nConnection: close\n\n`);
    const [request = ''] = api.requests;
    assert.deepEqual(valuesOf(request, 'x-forwarded-for'), ['10.0.0.1, 127.0.0.1']);
    assert.deepEqual(valuesOf(request, 'x-forwarded-proto'), ['https']);
    assert.deepEqual(valuesOf(request, 'forwarded'), [
      'for=10.0.0.1, for=127.0.0.1;host="in";proto=http',
    ]);
  });

  it('puts the path of the upstream URL in front', async () => {
    const { api } = gateway;
    api.requests.length = 0;
    api.script = answering('');
    await using below = await startGateway({ RINGBACK_UPSTREAM: `${api.url}/base/` });
    await below.service.call({ path: '/x' });
    assert.match(api.requests[0] ?? '', /^GET \/base\/x /);
  });
});
