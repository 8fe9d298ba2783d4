// The same API in three frameworks, with and without the middleware. Each route answers in another way.
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import {
  ringbackExpress,
  ringbackFastify,
  ringbackFetch,
  type MiddlewareOptions,
} from '../../src/middleware/middleware.ts';

export interface Api extends AsyncDisposable {
  url: string;
}

export const job = '{"jobId":"job_17","note":"Grüße, 10 €"}';
export const large = JSON.stringify({ jobId: 'job_18', text: 'ü'.repeat(300_000) });
const type = 'application/json';

const zeros = Buffer.alloc(300_000);
/** Content encodings, and bytes that are, or are not, what they say. */
const packed: Readonly<Record<string, readonly [coding: string, body: Buffer<ArrayBuffer>]>> = {
  gzip: ['gzip', gzipSync(job)],
  br: ['br', brotliCompressSync(job)],
  zstd: ['zstd', zstdCompressSync(job)],
  exi: ['exi', Buffer.from(job)],
  'no-gzip': ['gzip', Buffer.from(job)],
  'no-zstd': ['zstd', Buffer.from(job)],
  'large-gzip': ['gzip', gzipSync(zeros)],
  'large-zstd': ['zstd', zstdCompressSync(zeros)],
};

function packedAs(how: string): readonly [coding: string, body: Buffer<ArrayBuffer>] {
  const found = packed[how];
  assert(found);
  return found;
}

function pieces(): Readable {
  return Readable.from(
    [job.slice(0, 5), job.slice(5, 20), job.slice(20)].map((one) => Buffer.from(one)),
  );
}

type StartApi = (options: MiddlewareOptions | undefined) => Promise<Api>;

export const apis: Readonly<Record<string, StartApi>> = {
  Express: async (options) => {
    const app = express();
    app.set('env', 'test'); // Otherwise it logs errors.
    if (options !== undefined) app.use(ringbackExpress(options));
    app.use(express.json());
    app.post('/jobs', (_request, response) => {
      response.status(201).location('/jobs/17').cookie('a', 'b').type(type).send(job);
    });
    app.put('/jobs/:id/hook', (_request, response) => void response.type(type).send(job));
    app.delete('/jobs/:id', (_request, response) => void response.status(204).end());
    app.post('/empty', (_request, response) => void response.status(204).end());
    app.head('/head', (_request, response) => void response.set('x-a', 'b').type(type).send(job));
    app.post(
      '/stream',
      (_request, response) => void pieces().pipe(response.status(202).type(type)),
    );
    app.post('/large', (_request, response) => void response.type(type).send(large));
    app.post('/large-stream', (_request, response) => {
      Readable.from([Buffer.from(large), Buffer.from('x')]).pipe(response.type(type));
    });
    app.post('/packed/:how', ({ params: { how } }, response) => {
      const [coding, body] = packedAs(how);
      response.set('content-encoding', coding).type(type).send(body);
    });
    app.post('/refused', (_request, response) => void response.status(422).json({ no: true }));
    app.post('/throws', () => {
      throw Object.assign(new Error('It broke'), { status: 500, expose: true, stack: 'It broke' });
    });
    return running(app.listen(0, '127.0.0.1'));
  },

  Fastify: async (options) => {
    const app = fastify();
    if (options !== undefined) await app.register(ringbackFastify, options);
    app.post('/jobs', async (_request, reply) => {
      reply.code(201).header('location', '/jobs/17').header('set-cookie', ['a=b', 'c=d']);
      return reply.type(type).send(job);
    });
    app.put('/jobs/:id/hook', async (_request, reply) => reply.type(type).send(job));
    app.delete('/jobs/:id', async (_request, reply) => reply.code(204).send());
    app.post('/empty', async (_request, reply) => reply.code(204).send());
    app.head('/head', async (_request, reply) => reply.header('x-a', 'b').type(type).send(job));
    app.post('/stream', async (_request, reply) => reply.code(202).type(type).send(pieces()));
    app.post('/large', async (_request, reply) => reply.type(type).send(large));
    app.post('/large-stream', async (_request, reply) =>
      reply.type(type).send(Readable.from([Buffer.from(large), Buffer.from('x')])),
    );
    app.post<{ Params: { how: string } }>('/packed/:how', async ({ params: { how } }, reply) => {
      const [coding, body] = packedAs(how);
      return reply.header('content-encoding', coding).type(type).send(body);
    });
    app.post('/refused', async (_request, reply) => reply.code(422).send({ no: true }));
    app.post('/throws', async () => {
      throw new Error('It broke');
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    return running(app.server);
  },

  Hono: async (options) => {
    const app = new Hono();
    app.post('/jobs', (c) => {
      c.header('set-cookie', 'a=b', { append: true });
      c.header('set-cookie', 'c=d', { append: true });
      return c.body(job, 201, { location: '/jobs/17', 'content-type': type });
    });
    app.put('/jobs/:id/hook', (c) => c.body(job, 200, { 'content-type': type }));
    app.delete('/jobs/:id', (c) => c.body(null, 204));
    app.post('/empty', (c) => c.body(null, 204));
    app.get('/head', (c) => c.body(job, 200, { 'content-type': type, 'x-a': 'b' }));
    app.post('/stream', (c) =>
      c.body(Readable.toWeb(pieces()) as ReadableStream, 202, { 'content-type': type }),
    );
    app.post('/large', (c) => c.body(large, 200, { 'content-type': type }));
    app.post('/large-stream', (c) => {
      const body = Readable.toWeb(Readable.from([Buffer.from(large), Buffer.from('x')]));
      return c.body(body as ReadableStream, 200, { 'content-type': type });
    });
    app.post('/packed/:how', (c) => {
      const [coding, body] = packedAs(c.req.param('how'));
      return c.body(body, 200, { 'content-type': type, 'content-encoding': coding });
    });
    app.post('/refused', (c) => c.json({ no: true }, 422));
    app.onError((error, c) => c.text(error.message, 500));
    app.post('/throws', () => {
      throw new Error('It broke');
    });
    const handler = (request: Request): Response | Promise<Response> => app.fetch(request);
    const fetch = options === undefined ? handler : ringbackFetch(options, handler);
    const server = serve({ fetch, port: 0, hostname: '127.0.0.1' });
    assert('closeAllConnections' in server);
    return running(server);
  },
};

export async function running(server: Server): Promise<Api> {
  if (!server.listening) await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface Seen {
  status: number | undefined;
  message: string | undefined;
  /** Sorted, without the time. */
  headers: string[];
  body: Buffer;
}

export interface Given {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** An answer as it is on the wire. */
export async function answerOf(url: string, given: Given = {}): Promise<Seen> {
  const {
    method = 'POST',
    headers = {},
    body = '{"callbackUrl":"http://127.0.0.1:9000/hook"}',
  } = given;
  const described = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
  const sent = send(url, { method, headers: { ...(body !== '' && described), ...headers } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  const raw = response.rawHeaders as string[];
  const lines = raw.flatMap((name, at) =>
    at % 2 === 0 ? [`${name.toLowerCase()}: ${raw[at + 1]}`] : [],
  );
  return {
    status: response.statusCode,
    message: response.statusMessage,
    headers: lines.filter((line) => !line.startsWith('date: ')).toSorted(),
    body: await buffer(response),
  };
}
