// Free ports that replace those of the pages, so that parallel tests do not collide on 8080.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports, so that the kernel does not assign one between the check and the use. */
const firstPort = 20_000;
const lastPort = 32_000;
const triesMax = 100;

export async function freePort(): Promise<number> {
  for (let tried = 0; tried < triesMax; tried += 1) {
    const port = randomInt(firstPort, lastPort);
    if (await isFree(port)) return port;
  }
  throw new Error(`No port between ${firstPort} and ${lastPort} is free`);
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
