// Programs in front of one small API, to which they pass every request on.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../harness/child-process.ts';
import { freePort } from '../harness/listen.ts';
import { waitForOutput } from '../harness/wait-for-output.ts';
import type { Contender } from './contender.ts';

export interface Gateway extends Pick<Contender, 'name' | 'pids'>, AsyncDisposable {
  port: number;
}

/** The API itself. */
export async function startApi(name: string): Promise<Gateway> {
  return startPart({ name, file: 'small-api.ts', upstream: '' });
}

export async function startHttpProxy(name: string, upstream: string): Promise<Gateway> {
  return startPart({ name, file: 'http-proxy.ts', upstream });
}

async function startPart(part: { name: string; file: string; upstream: string }): Promise<Gateway> {
  const { name, file, upstream } = part;
  const program = startChild<{ upstream: string }, { port: number }>(
    join(import.meta.dirname, file),
  );
  const { port } = await program.ask({ upstream });
  const stop = async (): Promise<void> => program[Symbol.asyncDispose]();
  return { name, port, pids: [program.pid], [Symbol.asyncDispose]: stop };
}

/** Undefined if nginx is not installed. */
export async function startNginx(name: string, upstream: string): Promise<Gateway | undefined> {
  if (spawnSync('nginx', ['-v']).status !== 0) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'ringback-nginx-'));
  const port = await freePort();
  const path = join(folder, 'nginx.conf');
  await writeFile(path, nginxConf({ folder, port, upstream: new URL(upstream).host }));
  const server = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', path]);
  const ended = once(server, 'exit');
  const [, worker] = await waitForOutput(server.stderr, /start worker process (\d+)/);
  return {
    name,
    port,
    pids: [Number(worker)],
    [Symbol.asyncDispose]: async () => {
      server.kill('SIGTERM'); // It ends its worker, too.
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One worker, because the others are one process; with a line in a log for each request, as Ringback has. */
function nginxConf(server: { folder: string; port: number; upstream: string }): string {
  const { folder, port, upstream } = server;
  return `
daemon off;
worker_processes 1;
error_log stderr notice;
pid ${folder}/pid;
events { worker_connections 1024; }
http {
  access_log ${folder}/access.log;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  upstream api { server ${upstream}; keepalive 64; }
  server {
    listen 127.0.0.1:${port} backlog=1024;
    location / {
      proxy_pass http://api;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
    }
  }
}
`;
}
