// Starts a Redis for the benchmark if a `redis-server` is installed: on loopback, with fsync every
// second.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './listen.ts';
import { waitForOutput } from './wait-for-output.ts';

export interface Redis extends AsyncDisposable {
  url: string;
}

/** Undefined if it is not installed. */
export async function startRedis(): Promise<Redis | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'ringback-redis-'));
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];
  const server = spawn('redis-server', [...settings, ...durable]);
  const ended = once(server, 'exit');
  await waitForOutput(server.stdout, /Ready to accept connections/);
  return {
    url: `redis://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
