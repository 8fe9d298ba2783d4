// Where a server listens, and how it stops.
import type { FastifyInstance } from 'fastify';
import { limits } from '../../core/limits/limits.ts';
import type { World } from '../../core/base/world.ts';
import type { Server } from './server.ts';

/** Current requests are finished, but only for a bounded time. */
export async function closeServer(
  { server, connections }: Server,
  world: Pick<World, 'sleep'>,
): Promise<void> {
  const closed = new AbortController();
  const giveUp = world.sleep(limits.stopTimeoutMs, closed.signal).then(
    () => connections.cutAll(),
    () => undefined, // Aborted: all were finished in time.
  );
  await server.close();
  closed.abort();
  await giveUp;
}

/** The URL for users on this machine. */
export function localUrl(
  server: FastifyInstance,
  { host, isTls }: { host: string; isTls: boolean },
): string {
  const scheme = isTls ? 'https' : 'http';
  const [address] = server.addresses();
  const isAny = host === '0.0.0.0' || host === '::';
  const name = isAny ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const port = typeof address === 'object' ? address.port : 0;
  return `${scheme}://${name}:${port}`;
}
