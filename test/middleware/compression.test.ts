// APIs that compress their answers, with the packages that they use for it: the middleware reads what the handler wrote,
// on either side of the compression, and the answer is the same but for one header.
import compress from '@fastify/compress';
import { serve } from '@hono/node-server';
import compression from 'compression';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { compress as compressHono } from 'hono/compress';
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, before, beforeEach, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import {
  ringbackExpress,
  ringbackFastify,
  ringbackFetch,
  type MiddlewareOptions,
} from '../../src/middleware/middleware.ts';
import { answerOf, running, type Api, type Seen } from './apis.ts';
import { fakeRingback, registered, type FakeRingback } from './fake-ringback.ts';

const text = JSON.stringify({ jobId: 'job_17', note: 'Grüße, 10 € '.repeat(500) });
const small = '{"jobId":"job_18"}';
const type = 'application/json';
const operations = ['POST /jobs', 'POST /stream', 'POST /small'];

function pieces(): Readable {
  const bytes = Buffer.from(text);
  return Readable.from([bytes.subarray(0, 7), bytes.subarray(7, 3_000), bytes.subarray(3_000)]);
}

type Options = MiddlewareOptions | undefined;
type Use = (app: express.Express) => void;

async function expressWith(...uses: Use[]): Promise<Api> {
  const app = express();
  for (const use of uses) use(app);
  app.use(express.json());
  app.post('/jobs', (_request, response) => void response.status(201).type(type).send(text));
  app.post('/stream', (_request, response) => void pieces().pipe(response.type(type)));
  app.post('/small', (_request, response) => void response.type(type).send(small));
  return running(app.listen(0, '127.0.0.1'));
}

const compressing: Use = (app) => void app.use(compression());

function middleware(options: Options): Use {
  return (app) => void (options !== undefined && app.use(ringbackExpress(options)));
}

/** `syncThreshold`: larger answers are compressed in pieces. */
async function fastifyWith(
  options: Options,
  { isFirst, syncThreshold }: { isFirst: boolean; syncThreshold: number },
): Promise<Api> {
  const app = fastify();
  const plugins = [
    async () => app.register(compress, { syncThreshold }),
    async () => options !== undefined && app.register(ringbackFastify, options),
  ];
  for (const plug of isFirst ? plugins.toReversed() : plugins) await plug();
  app.post('/jobs', async (_request, reply) => reply.code(201).type(type).send(text));
  app.post('/stream', async (_request, reply) => reply.type(type).send(pieces()));
  app.post('/small', async (_request, reply) => reply.type(type).send(small));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return running(app.server);
}

const every = ['zstd', 'br', 'gzip', 'deflate', 'identity'];
const stacks: Readonly<
  Record<string, { codings: readonly string[]; start: (options: Options) => Promise<Api> }>
> = {
  'Express, compression behind the middleware': {
    codings: ['br', 'gzip', 'deflate', 'identity'],
    start: async (options) => expressWith(middleware(options), compressing),
  },
  'Express, compression in front of the middleware': {
    codings: ['br', 'gzip', 'deflate', 'identity'],
    start: async (options) => expressWith(compressing, middleware(options)),
  },
  'Fastify, middleware registered first': {
    codings: every,
    start: async (options) => fastifyWith(options, { isFirst: true, syncThreshold: 1_000_000 }),
  },
  'Fastify, compression registered first': {
    codings: every,
    start: async (options) => fastifyWith(options, { isFirst: false, syncThreshold: 0 }),
  },
  Hono: {
    codings: ['gzip', 'deflate', 'identity'],
    start: async (options) => {
      const app = new Hono();
      app.use(compressHono());
      app.post('/jobs', (c) => c.body(text, 201, { 'content-type': type }));
      app.post('/stream', (c) =>
        c.body(Readable.toWeb(pieces()) as ReadableStream, 200, { 'content-type': type }),
      );
      app.post('/small', (c) =>
        c.body(small, 200, { 'content-type': type, 'content-length': String(small.length) }),
      );
      const handler = (request: Request): Response | Promise<Response> => app.fetch(request);
      const fetch = options === undefined ? handler : ringbackFetch(options, handler);
      const server = serve({ fetch, port: 0, hostname: '127.0.0.1' });
      assert('closeAllConnections' in server);
      return running(server);
    },
  },
};

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  zstd: zstdDecompressSync,
  br: brotliDecompressSync,
  gzip: gunzipSync,
  deflate: inflateSync,
  identity: (bytes) => bytes,
};

function codingOf({ headers }: Seen): string {
  const line = headers.find((one) => one.startsWith('content-encoding: '));
  return line?.replace('content-encoding: ', '') ?? 'identity';
}

/** Compressed bytes depend on how the pieces arrive, so they are compared decoded. */
function plain(seen: Seen): Omit<Seen, 'body'> & { body: string } {
  const headers = seen.headers.filter((line) => !line.startsWith('ringback-'));
  return { ...seen, headers, body: String(decoders[codingOf(seen)]?.(seen.body)) };
}

for (const [name, { codings, start }] of Object.entries(stacks)) {
  describe(`an API that compresses: ${name}`, () => {
    let ringback: FakeRingback;
    let bare: Api;
    let wrapped: Api;
    let errors: Error[] = [];
    before(async () => {
      ringback = await fakeRingback();
      bare = await start(undefined);
      const onError = (error: Error): void => void errors.push(error);
      wrapped = await start({ url: ringback.url, operations, onError });
    });
    beforeEach(() => {
      errors = [];
      ringback.exchanges.length = 0;
      ringback.answer = registered;
    });
    after(async () => {
      for (const one of [wrapped, bare, ringback]) await one[Symbol.asyncDispose]();
    });

    for (const coding of codings) {
      for (const path of ['/jobs', '/stream', '/small']) {
        it(`registers POST ${path}, sent as ${coding}`, async () => {
          const given = { headers: { 'accept-encoding': coding } };
          const expected = await answerOf(bare.url + path, given);
          const actual = await answerOf(wrapped.url + path, given);
          const body = path === '/small' ? small : text;
          assert.equal(codingOf(expected), path === '/small' ? 'identity' : coding);
          assert.deepEqual(plain(actual), plain(expected));
          assert.equal(plain(actual).body, body);
          assert.ok(actual.headers.includes('ringback-subscription: sub_1'));
          const bodies = ringback.exchanges.map((one) => one.response.body);
          assert.deepEqual([bodies, errors], [[JSON.parse(body)], []]);
        });
      }
    }
  });
}
