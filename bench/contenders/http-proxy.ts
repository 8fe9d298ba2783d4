// A bare `@fastify/http-proxy` with its defaults: no log, no deadlines of its own.
import httpProxy from '@fastify/http-proxy';
import { fastify } from 'fastify';
import { answerParent } from '../harness/child-process.ts';
import { portOf } from '../harness/listen.ts';

answerParent(async ({ upstream }: { upstream: string }) => {
  const server = fastify();
  await server.register(httpProxy, { upstream });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return { port: portOf(server.server) };
});
