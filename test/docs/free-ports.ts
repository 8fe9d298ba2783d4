// Ports for pages, which name the ones that readers use: parallel tests must not meet on 8080.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that the kernel hands out by itself, so that nobody gets one between the look and the use. */
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
