// Unreachable receivers, on ports that no other process can take meanwhile: some never accept, some do not listen.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Ports extends AsyncDisposable {
  ports: readonly number[];
}

/** Listens, and then blocks. Two connections fill the queue of a port; the next gets no answer. */
const standingStill = `
  const { createServer } = require('net');
  const listen = () => new Promise((resolve) => {
    const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      resolve(server.address().port);
    });
  });
  Promise.all(Array.from({ length: Number(process.argv[1]) }, listen)).then((ports) => {
    require('fs').writeSync(1, ports.join());
    require('fs').closeSync(1);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
const queued = 2;
const triesMax = 20;

export async function neverAccept(count: number): Promise<Ports> {
  const child = spawn(process.execPath, ['-e', standingStill, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const ports = (await text(child.stdout)).split(',').map(Number);
  const fillers: Socket[] = [];
  for (const port of ports) {
    for (let filler = 0; filler < queued; filler += 1) fillers.push(dial(port));
  }
  await Promise.all(fillers.map(async (socket) => once(socket, 'connect')));
  return {
    ports,
    [Symbol.asyncDispose]: async () => {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Each port is the local port of an open connection. The system could assign a free port to any socket, even to
 * the one that dials it, which would then connect to itself.
 */
export async function neverListen(count: number): Promise<Ports> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  const holders: Socket[] = [];
  for (let holder = 0; holder < count; holder += 1) {
    holders.push(await hold(address.port));
  }
  return {
    ports: holders.map(({ localPort }) => localPort ?? 0),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of holders) socket.destroy();
      await closed;
    },
  };
}

function dial(port: number): Socket {
  return connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
}

/** A connection from an explicitly bound port, because an automatically assigned one can be shared. */
async function hold(port: number): Promise<Socket> {
  for (let tries = 1; ; tries += 1) {
    const from = { localPort: await freePort(), localAddress: '127.0.0.1' };
    const socket = connect({ port, host: '127.0.0.1', ...from });
    try {
      await once(socket, 'connect');
      return socket.on('error', () => undefined);
    } catch (error) {
      if (tries === triesMax) throw error; // Another process took the port each time.
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  const closed = once(server, 'close');
  server.close();
  await closed;
  return address.port;
}
