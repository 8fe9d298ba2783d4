// The HTTP interface that all contenders except Ringback share: POST /events, answered with 202 and
// an id.
import { fastify } from 'fastify';
import { portOf } from '../harness/listen.ts';
import type { Sent } from './receivers-of.ts';
import { newId } from './receivers-of.ts';

/** Resolves to its port. Answers when `accept` resolves. */
export async function listenForEvents(accept: (sent: Sent) => Promise<void>): Promise<number> {
  const server = fastify();
  server.post<{ Body: { event: string; payload: unknown } }>('/events', async (request, reply) => {
    const { event, payload } = request.body;
    const id = `evt_${newId()}`;
    await accept({ id, event, payload });
    return reply.code(202).send({ id });
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return portOf(server.server);
}
