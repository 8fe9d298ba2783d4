// Ports on loopback that the system chooses.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Resolves to the port on which the server then listens. */
export async function listen(server: Server): Promise<number> {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 });
  await once(server, 'listening');
  return portOf(server);
}

export function portOf(server: Server): number {
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return address.port;
}

/** For a program that cannot say which port it was given. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}
