// A publish that arrives in one piece takes the fast path (src/api/direct). Its responses equal those of the
// regular path through Node's HTTP server and Fastify.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { newFolder } from '../cli/ringback-process.ts';
import { sleepyWorld } from '../engine/sleepy-world.ts';
import { start, type Started } from './harness.ts';

const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const event = { event: 'a.b', payload: { message: 'm' } };

interface Post {
  path?: string;
  headers?: readonly string[];
  body?: string;
}

describe('a publish that arrives in one piece', () => {
  let service: Started;
  before(async () => {
    service = await start();
  });
  after(async () => service[Symbol.asyncDispose]());

  const withKey = (): string => `X-API-Key: ${service.key}`;
  const posts: Record<string, () => Post> = {
    'is accepted': () => ({ headers: [withKey()] }),
    'is accepted with its key in the query': () => ({ path: `/events?apiKey=${service.key}` }),
    'is accepted as a batch': () => ({
      path: '/events/batch',
      headers: [withKey()],
      body: JSON.stringify({ events: [event, event] }),
    }),
    'has a request id': () => ({ headers: [withKey(), 'X-Request-Id: mine-1'] }),
    'has an unusable request id': () => ({
      headers: [withKey(), 'X-Request-Id: m/1', 'X-Request-Id: n'],
    }),
    'lacks a key': () => ({}),
    'has an unknown key': () => ({ headers: ['X-API-Key: rbk_00000000_0000'] }),
    'has two keys': () => ({ headers: [withKey(), withKey()] }),
    'is not JSON': () => ({ headers: [withKey()], body: '{"event":' }),
    'is not UTF-8': () => ({ headers: [withKey()], body: '{"event":"\xff"}' }),
    'lacks a required field': () => ({ headers: [withKey()], body: '{"payload":{}}' }),
    'has non-ASCII text in its errors': () => ({
      headers: [withKey()],
      body: JSON.stringify({ ...event, 'zu viel': 'ö', größe: 1 }),
    }),
    'names a subject': () => ({
      headers: [withKey()],
      body: JSON.stringify({ ...event, subject: 'job_17' }),
    }),
    'contradicts itself': () => ({
      headers: [withKey()],
      body: JSON.stringify({ ...event, subject: 'job_17', audience: 'all' }),
    }),
    'is compressed': () => ({ headers: [withKey(), 'Content-Encoding: gzip'] }),
    'has an invalid query': () => ({ path: '/events?a=%ff', headers: [withKey()] }),
    'has an invalid idempotency key': () => ({
      headers: [withKey(), `Idempotency-Key: ${'k'.repeat(300)}`],
    }),
    'has a trace context': () => ({
      headers: [withKey(), 'Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    }),
  };
  for (const [name, post] of Object.entries(posts)) {
    it(`${name}, and gets the same response as on the regular path`, async () => {
      const direct = await ask(service, print(post()));
      const long = await ask(service, print(post(), 'Connection: keep-alive, x'));
      assert.deepEqual([direct.isDirect, long.isDirect], [true, false]);
      assert.deepEqual(told(direct), told(long));
    });
  }

  it('takes effect once for one idempotency key, whichever path it takes', async () => {
    const headers = [withKey(), 'Idempotency-Key: one'];
    const [first, again, long] = [
      await ask(service, print({ headers })),
      await ask(service, print({ headers })),
      await ask(service, print({ headers }, 'Connection: keep-alive, x')),
    ];
    assert.deepEqual([first.status, again.body, long.body], [202, first.body, first.body]);
  });

  it('writes the same log line', async () => {
    const lines = async (more?: string): Promise<unknown> => {
      const from = service.logged().length;
      await ask(service, print({ headers: [withKey()] }, more));
      const [line = ''] = service
        .logged()
        .slice(from)
        .split('\n')
        .filter((one) => one.includes('"request"'));
      const {
        requestId,
        tookMs,
        time,
        event: id,
        ...rest
      } = JSON.parse(line) as Record<string, unknown>;
      assert.match(`${String(requestId)} ${String(id)}`, /^req_\w+ evt_\w+$/);
      assert(typeof tookMs === 'number' && time !== undefined);
      return rest;
    };
    assert.deepEqual(await lines(), await lines('Connection: keep-alive, x'));
  });

  it('is answered before and after requests on the regular path, on one connection', async () => {
    const socket = open(service);
    const post = print({ headers: [withKey()] });
    const heard: [number, boolean][] = [];
    for (const bytes of [post, post, health, post]) {
      socket.write(bytes, 'latin1');
      const { status, isDirect } = await read(socket);
      heard.push([status, isDirect]);
    }
    socket.destroy();
    assert.deepEqual(heard, [
      [202, true],
      [202, true],
      [200, false],
      [202, false],
    ]);
  });

  it('closes its connection after the maximum number of requests', async () => {
    const socket = open(service);
    const post = print({});
    for (let asked = 1; asked < limits.requestsPerSocketMax; asked += 1) {
      socket.write(post);
      assert.doesNotMatch((await read(socket)).head, /connection: close/);
    }
    socket.write(post);
    assert.match((await read(socket)).head, /\r\nconnection: close\r\n/);
    await once(socket, 'end');
  });

  it('does not count towards the limit of later requests on the regular path', async () => {
    const socket = open(service);
    const post = print({});
    for (const _ of [1, 2, 3]) {
      socket.write(post);
      assert.equal((await read(socket)).isDirect, true);
    }
    const from = service.logged().length;
    const many = limits.requestsPerSocketMax;
    socket.write(health.repeat(many) + print({ headers: [withKey()] }).repeat(3), 'latin1');
    const heard = (await text(socket)).split('HTTP/1.1 200').slice(1);
    assert.equal(heard.length, many);
    assert.match(heard.at(-1) ?? '', /connection: close/i);
    assert.doesNotMatch(service.logged().slice(from), /publishEvent/);
  });

  /** Decision 0022: the fast path supports one form of request, and no other is added to it. */
  const outside: Record<string, () => [bytes: string, statuses: number[]]> = {
    'GET, another method': () => [by('GET'), [200]],
    'PUT, another method': () => [by('PUT'), [405]],
    'PATCH, another method': () => [by('PATCH'), [405]],
    'DELETE, another method': () => [by('DELETE'), [405]],
    'OPTIONS, another method': () => [by('OPTIONS'), [405]],
    'a chunked body': () => [chunked(), [202]],
    'a chunked body with a Content-Length': () => [
      chunked(`Content-Length: ${JSON.stringify(event).length}`),
      [400],
    ],
    'two requests in one packet': () => [print({ headers: [withKey()] }).repeat(2), [202, 202]],
    'another HTTP version': () => [
      print({ headers: [withKey(), 'Connection: keep-alive'] }).replace('HTTP/1.1', 'HTTP/1.0'),
      [202],
    ],
    'an Expect header': () => [print({ headers: [withKey(), 'Expect: x'] }), [202]],
  };
  const by = (method: string): string => print({ headers: [withKey()] }).replace(/^POST/, method);
  const chunked = (...more: string[]): string => {
    const body = JSON.stringify(event);
    const type = 'Content-Type: application/json';
    const lines = ['POST /events HTTP/1.1', 'Host: x', withKey(), type, ...more];
    const size = body.length.toString(16);
    return [...lines, 'Transfer-Encoding: chunked', '', size, body, '0', '', ''].join('\r\n');
  };
  for (const [name, printed] of Object.entries(outside)) {
    it(`leaves all bytes to Node's parser: ${name}`, async () => {
      const [bytes, statuses] = printed();
      const socket = open(service);
      socket.end(bytes, 'latin1');
      const answers = (await text(socket)).split(/HTTP\/1\.1 (?=\d)/).slice(1);
      assert.deepEqual(
        answers.map((answer) => [Number(answer.slice(0, 3)), isPrintedHere(answer)]),
        statuses.map((status) => [status, false]),
      );
    });
  }

  it('goes through Node’s parser when the fast path is off', async () => {
    await using slow = await start({ env: { RINGBACK_FAST_PATH: 'off' } });
    const heard = await ask(slow, print({ headers: [`X-API-Key: ${slow.key}`] }));
    assert.deepEqual([heard.status, heard.isDirect], [202, false]);
  });

  it('does not take the fast path for an operation of a foreign document, whatever its name', async () => {
    await using folder = await newFolder();
    const path = join(folder.path, 'foreign.json');
    await writeFile(path, JSON.stringify(foreign));
    await using other = await start({ env: { RINGBACK_CONTRACT: path }, names });
    const key = `X-API-Key: ${other.key}`;
    const made = await ask(other, print({ path: '/subs?to=https://a.test/', headers: [key] }));
    assert.deepEqual([made.status, made.isDirect], [201, false], made.body);
  });

  it('is refused if it is incomplete', async () => {
    const socket = open(service);
    socket.end(print({ headers: [withKey()] }).slice(0, -1), 'latin1');
    const { status, body } = await read(socket);
    assert.equal(status, 400);
    assert.match(body, /malformed_request/);
  });

  it('does not delay a stop: an idle connection is closed', async () => {
    const other = await start({ world: sleepyWorld().world }); // The timer that would destroy it never fires.
    const idle = open(other);
    idle.write(print({}));
    await read(idle);
    const ended = once(idle, 'close');
    await other[Symbol.asyncDispose]();
    await ended;
  });
});

const names = { 'a.test': ['93.184.216.34'] };

/** Its unsubscribe has the name of an operation of ours, and the path of its subscribe. */
const foreign = {
  openapi: '3.0.4',
  info: { title: 'Foreign', version: '1' },
  paths: {
    '/subs': {
      post: {
        operationId: 'subscribeHere',
        parameters: [{ name: 'to', in: 'query', required: true, schema: { type: 'string' } }],
        responses: {
          201: {
            description: 'made',
            links: {
              end: { operationId: 'publishEvents', parameters: { Id: '$response.body#/id' } },
            },
          },
        },
        callbacks: {
          happened: {
            '{$request.query.to}': { post: { responses: { 200: { description: 'received' } } } },
          },
        },
      },
      delete: {
        operationId: 'publishEvents',
        parameters: [{ name: 'Id', in: 'query', required: true, schema: { type: 'string' } }],
        responses: { 204: { description: 'ended' } },
      },
    },
  },
};

interface Heard {
  status: number;
  head: string;
  body: string;
  isDirect: boolean;
}

/** Node writes some header names in another case. */
function isPrintedHere(answer: string): boolean {
  return answer.includes('\r\ndate: ');
}

function print(
  { path = '/events', headers = [], body = JSON.stringify(event) }: Post,
  more?: string,
): string {
  const bytes = Buffer.from(
    body,
    /[^\0-\xff]/.test(body) || body.includes('ö') ? 'utf8' : 'latin1',
  );
  return [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    ...headers,
    ...(more === undefined ? [] : [more]),
    'Content-Type: application/json',
    `Content-Length: ${bytes.length}`,
    '',
    bytes.toString('latin1'),
  ].join('\r\n');
}

function open({ url }: Started): Socket {
  const { port, hostname } = new URL(url);
  return connect({ port: Number(port), host: hostname });
}

async function ask(service: Started, bytes: string): Promise<Heard> {
  const socket = open(service);
  socket.write(bytes, 'latin1');
  const heard = await read(socket);
  socket.destroy();
  return heard;
}

/** Reads one response. */
async function read(socket: Socket): Promise<Heard> {
  let bytes = Buffer.alloc(0);
  for (;;) {
    const end = bytes.indexOf('\r\n\r\n');
    const head = bytes.toString('latin1', 0, Math.max(end, 0));
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    if (end >= 0 && bytes.length >= end + 4 + length) {
      const status = Number(head.split(' ')[1]);
      const body = bytes.toString('utf8', end + 4);
      return { status, head: `${head}\r\n`, body, isDirect: isPrintedHere(head) };
    }
    const [piece] = (await once(socket, 'data')) as [Buffer];
    bytes = Buffer.concat([bytes, piece]);
  }
}

/** Without values that differ each time, and without connection headers. */
function told({ status, head, body }: Heard): unknown {
  const [, ...lines] = head.trim().split('\r\n');
  const masked = (given: string): string =>
    given.replaceAll(/(evt|req)_[0-9a-z]{26}/g, '$1').replaceAll(/"occurredAt":"[^"]+"/g, '');
  const headers = lines
    .map((line) => line.split(/: (.*)/s, 2) as [string, string])
    .map(([name, value]) => [name.toLowerCase(), masked(value)] as const)
    .filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name))
    .map(([name, value]) => [name, /^(ratelimit|x-ratelimit)/.test(name) ? '' : value])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return { status, headers, body: masked(body) };
}
