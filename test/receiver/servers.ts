// The receiver library in real web frameworks on loopback, used as docs/receiving.md describes.
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Handler, Receiver } from '../../src/receiver/receiver.ts';

export interface Running extends AsyncDisposable {
  url: string;
}

type Start = (receiver: Receiver, handler: Handler) => Promise<Running>;

export const servers: Readonly<Record<string, Start>> = {
  'node:http': async (receiver, handler) => {
    const server = createServer(receiver.node(handler));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return running(server);
  },

  Express: async (receiver, handler) => {
    const app = express();
    app.post('/callbacks', receiver.node(handler));
    app.use(express.json()); // For everything else.
    return listening(app.listen(0, '127.0.0.1'));
  },

  'Express with express.raw': async (receiver, handler) => {
    const app = express();
    app.use(express.raw({ type: '*/*', limit: '1mb' }));
    app.post('/callbacks', receiver.node(handler));
    return listening(app.listen(0, '127.0.0.1'));
  },

  Fastify: async (receiver, handler) => {
    const app = fastify();
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    app.post('/callbacks', async (request, reply) =>
      reply.code(await receiver.answer(request, handler)).send(),
    );
    await app.listen({ port: 0, host: '127.0.0.1' });
    return running(app.server);
  },

  Hono: async (receiver, handler) => {
    const app = new Hono();
    app.post('/callbacks', async (c) => receiver.handle(c.req.raw, handler));
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
    assert('closeAllConnections' in server);
    return listening(server);
  },
};

export async function listening(server: Server): Promise<Running> {
  if (!server.listening) await once(server, 'listening');
  return running(server);
}

function running(server: Server): Running {
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return {
    url: `http://127.0.0.1:${address.port}/callbacks`,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
