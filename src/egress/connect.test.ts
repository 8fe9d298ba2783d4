import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { Pool } from 'undici';
import { makeCertificate } from '../../test/egress/certificate.ts';
import { limits } from '../core/limits.ts';
import type { World } from '../core/world.ts';
import type { Connector, DialResult } from './connect.ts';
import { DialError, dial, systemConnector, undiciConnect } from './connect.ts';
import type { Guard, Vetted } from './guard.ts';
import { createGuard } from './guard.ts';
import { parseAllowTargets } from './policy.ts';
import type { Resolver } from './resolve.ts';

const publicAddress = '93.184.215.14';
const ipv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some((x) => x.address === '::1'),
);
const open: Server[] = [];
after(() => {
  for (const server of open) server.close();
});

async function portOf(server: Server, host = '127.0.0.1'): Promise<number> {
  open.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  return address.port;
}

/** A server that notes each connection's first bytes. */
function listener(): { server: Server; heard: Promise<{ bytes: number }> } {
  const { promise, resolve } = Promise.withResolvers<{ bytes: number }>();
  const server = createServer((socket) => {
    let bytes = 0;
    socket.on('data', (data) => {
      bytes += data.length;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve({ bytes }));
  });
  return { server, heard: promise };
}

function guardOf(allow: string, resolver?: Resolver): Guard {
  const read = parseAllowTargets(allow);
  assert(read.kind === 'allow');
  const none: Resolver = { resolve: async () => ({ kind: 'missing' }) };
  const policy = { allow: read.allow, requireHttps: false };
  return createGuard({ policy, resolver: resolver ?? none });
}

function answering(...addresses: string[]): Resolver {
  return { resolve: async () => ({ kind: 'addresses', addresses }) };
}

/** As if the guard had vetted it: some tests need what it would never let through. */
function vettedAs(href: string, addresses: string[]): Vetted {
  const read = guardOf('127.0.0.0/8,::1,10.0.0.0/8').read(href);
  assert(read.kind === 'url', href);
  return { kind: 'vetted', url: read.url, addresses };
}

/** Notes what it is asked for and goes where `goTo` says instead. */
function recorder(goTo: (address: string) => Promise<Socket>): Connector & { dials: string[] } {
  const dials: string[] = [];
  return {
    dials,
    async connect({ address }) {
      dials.push(address);
      return goTo(address);
    },
  };
}

async function toLoopback(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  return socket;
}

async function refusing(): Promise<Socket> {
  throw new Error('ECONNREFUSED');
}

function close(result: DialResult): void {
  if (result.kind === 'connected') result.socket.destroy();
}

describe('dial', () => {
  it('connects to the vetted address', async () => {
    const port = await portOf(createServer());
    const vetted = vettedAs(`http://hooks.example.com:${port}/`, ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('loopback') });
    assert(result.kind === 'connected');
    assert.equal(result.address, '127.0.0.1');
    assert.equal(result.socket.remoteAddress, '127.0.0.1');
    close(result);
  });

  it('tries the addresses in order until one connects', async () => {
    const port = await portOf(createServer());
    const connector = recorder(async (address) =>
      address === '127.0.0.1' ? toLoopback(port) : refusing(),
    );
    const vetted = vettedAs(`http://hooks.example.com:${port}/`, ['::1', '127.0.0.1', '127.0.0.2']);
    const result = await dial(vetted, { guard: guardOf('loopback'), connector });
    assert.equal(result.kind, 'connected');
    assert.deepEqual(connector.dials, ['::1', '127.0.0.1']);
    close(result);
  });

  it('gives up after a few addresses', async () => {
    const connector = recorder(refusing);
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'];
    const vetted = vettedAs('http://hooks.example.com/', addresses);
    const result = await dial(vetted, { guard: guardOf('loopback'), connector });
    assert(result.kind === 'failed');
    assert.equal(result.reason, 'connect');
    assert.deepEqual(connector.dials, addresses.slice(0, 3));
  });

  it('does not dial an address that the policy of now forbids', async () => {
    const connector = recorder(refusing);
    const vetted = vettedAs('http://127.0.0.1:3000/', ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('none'), connector });
    assert.equal(result.kind, 'blocked');
    assert.deepEqual(connector.dials, []);
  });

  it('blocks a socket that ended at a forbidden address, before a byte is sent', async () => {
    const { server, heard } = listener();
    const port = await portOf(server);
    const connector = recorder(async () => toLoopback(port));
    const vetted = vettedAs(`https://example.com:${port}/`, [publicAddress, publicAddress]);
    const result = await dial(vetted, { guard: guardOf('none'), connector });
    assert.equal(result.kind, 'blocked');
    assert.deepEqual(connector.dials, [publicAddress]);
    assert.deepEqual(await heard, { bytes: 0 });
  });

  it('blocks a socket that ended at another address than the vetted one', async () => {
    const { server, heard } = listener();
    const port = await portOf(server);
    const connector = recorder(async () => toLoopback(port));
    const vetted = vettedAs(`http://hooks.example.com:${port}/`, ['127.0.0.2']);
    const result = await dial(vetted, { guard: guardOf('loopback'), connector });
    assert.equal(result.kind, 'blocked');
    assert.deepEqual(await heard, { bytes: 0 });
  });

  it('shares its time among the addresses and then fails with timeout', async () => {
    const sleeps: number[] = [];
    let nowMs = 0;
    const world: Pick<World, 'sleep' | 'monotonicMs'> = {
      monotonicMs: () => nowMs,
      sleep: async (ms) => {
        sleeps.push(ms);
        nowMs += ms;
      },
    };
    const connector: Connector = {
      async connect({ signal }) {
        if (!signal.aborted) await once(signal, 'abort');
        throw signal.reason;
      },
    };
    const vetted = vettedAs('http://hooks.example.com/', ['127.0.0.1', '127.0.0.2', '127.0.0.3']);
    const guard = guardOf('loopback');
    const result = await dial(vetted, { guard, connector, world, timeoutMs: 3_000 });
    assert(result.kind === 'failed');
    assert.equal(result.reason, 'timeout');
    assert.deepEqual(sleeps, [1_000, 1_000, 1_000]);
  });

  it('stops when the caller gives up', async () => {
    const controller = new AbortController();
    const connector: Connector = {
      async connect({ signal }) {
        controller.abort();
        assert(signal.aborted);
        throw signal.reason;
      },
    };
    const vetted = vettedAs('http://hooks.example.com/', ['127.0.0.1', '127.0.0.2']);
    const options = { guard: guardOf('loopback'), connector, signal: controller.signal };
    const result = await dial(vetted, options);
    assert(result.kind === 'failed');
    assert.equal(result.reason, 'aborted');
  });

  it('fails with connect where nobody listens', async () => {
    const server = createServer();
    const port = await portOf(server);
    server.close();
    await once(server, 'close');
    const vetted = vettedAs(`http://127.0.0.1:${port}/`, ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('loopback') });
    assert(result.kind === 'failed');
    assert.equal(result.reason, 'connect');
    assert.doesNotMatch(result.message, /ECONN/);
  });
});

describe('dial over TLS', () => {
  const { certificate, key } = makeCertificate('hooks.example.com');

  async function tlsServer(): Promise<{ port: number; names: string[] }> {
    const names: string[] = [];
    const server = createTlsServer({ cert: certificate, key }, (socket) => {
      names.push(typeof socket.servername === 'string' ? socket.servername : 'no name');
      socket.on('error', () => undefined);
      socket.end('hello');
    });
    server.on('tlsClientError', () => undefined);
    return { port: await portOf(server), names };
  }

  it('asks for the name and checks the certificate against it', async () => {
    const { port, names } = await tlsServer();
    const vetted = vettedAs(`https://hooks.example.com:${port}/`, ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('loopback'), tls: { ca: certificate } });
    assert(result.kind === 'connected');
    assert.equal((await once(result.socket, 'data')).toString(), 'hello');
    assert.deepEqual(names, ['hooks.example.com']);
    close(result);
  });

  it('checks the certificate of an address against it, without a server name', async () => {
    const { port, names } = await tlsServer();
    const vetted = vettedAs(`https://127.0.0.1:${port}/`, ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('loopback'), tls: { ca: certificate } });
    assert(result.kind === 'connected');
    await once(result.socket, 'data');
    assert.deepEqual(names, ['no name']);
    close(result);
  });

  it('refuses an untrusted or misnamed certificate and tries no other address', async () => {
    const { port } = await tlsServer();
    const rows = [
      { href: `https://hooks.example.com:${port}/`, tls: {} },
      { href: `https://other.example.com:${port}/`, tls: { ca: certificate } },
    ];
    for (const { href, tls } of rows) {
      const connector = recorder(async () => toLoopback(port));
      const vetted = vettedAs(href, ['127.0.0.1', '127.0.0.1']);
      const result = await dial(vetted, { guard: guardOf('loopback'), connector, tls });
      assert(result.kind === 'failed');
      assert.equal(result.reason, 'tls');
      assert.equal(connector.dials.length, 1);
    }
  });

  it('ends a handshake that takes too long', async () => {
    const { server, heard } = listener();
    const port = await portOf(server);
    const vetted = vettedAs(`https://hooks.example.com:${port}/`, ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('loopback'), timeoutMs: 50 });
    assert(result.kind === 'failed');
    assert.equal(result.reason, 'timeout');
    assert((await heard).bytes > 0);
  });
});

describe('systemConnector', () => {
  it('takes no names', async () => {
    const { signal } = new AbortController();
    const target = { address: 'localhost', port: 80, signal };
    await assert.rejects(systemConnector().connect(target), /expected an address/);
  });
});

describe('undiciConnect', () => {
  async function httpServer(): Promise<{ port: number; hosts: (string | undefined)[] }> {
    const hosts: (string | undefined)[] = [];
    const server = createHttpServer((request, response) => {
      hosts.push(request.headers.host);
      response.end('ok');
    });
    return { port: await portOf(server), hosts };
  }

  it('carries a request to the vetted address under the name of the URL', async () => {
    const { port, hosts } = await httpServer();
    const guard = guardOf('loopback', answering('127.0.0.1'));
    const pool = new Pool(`http://hooks.example.com:${port}`, {
      connect: undiciConnect({ guard }),
    });
    const { statusCode, body } = await pool.request({ path: '/', method: 'POST' });
    assert.equal(statusCode, 200);
    assert.equal(await body.text(), 'ok');
    assert.deepEqual(hosts, [`hooks.example.com:${port}`]);
    await pool.close();
  });

  it('hands out a socket that is read in small pieces, and not at all once it is given up', async () => {
    const size = 64 * 1_024;
    const port = await portOf(createServer((socket) => socket.end(Buffer.alloc(size))));
    const { promise, resolve } = Promise.withResolvers<Socket | null>();
    const connectTo = undiciConnect({ guard: guardOf('loopback') });
    connectTo({ protocol: 'http:', hostname: '127.0.0.1', port: `${port}` }, (_error, socket) =>
      resolve(socket),
    );
    const socket = await promise;
    assert(socket);
    for (let pieces = 0; pieces < 8;) {
      const piece: Buffer | null = socket.read();
      if (piece === null) await once(socket, 'readable');
      else pieces += 1;
      assert(
        (piece?.length ?? 0) <= limits.responsePieceBytesMax,
        `${piece?.length} bytes at once`,
      );
    }
    socket.destroy();
    assert.equal(socket.read(), null);
  });

  it('reaches an IPv6 address', { skip: ipv6 ? false : 'no ::1 here' }, async () => {
    const server = createHttpServer((_request, response) => response.end('ok'));
    const port = await portOf(server, '::1');
    const connect6 = undiciConnect({ guard: guardOf('loopback') });
    const pool = new Pool(`http://[::1]:${port}`, { connect: connect6 });
    const { statusCode, body } = await pool.request({ path: '/', method: 'POST' });
    await body.dump();
    assert.equal(statusCode, 200);
    await pool.close();
  });

  it('gives undici no socket for literals and names that are forbidden', async () => {
    const { port, hosts } = await httpServer();
    const rows = [
      [`http://127.0.0.1:${port}`, 'refused'],
      [`http://[::ffff:127.0.0.1]:${port}`, 'refused'],
      [`http://2130706433:${port}`, 'refused'],
      [`http://localhost:${port}`, 'refused'],
      [`http://rebind.example.com:${port}`, 'refused'],
    ] as const;
    for (const [origin, kind] of rows) {
      const connector = recorder(async () => toLoopback(port));
      const guard = guardOf('none', answering('127.0.0.1'));
      const pool = new Pool(origin, { connect: undiciConnect({ guard, connector }) });
      await assert.rejects(pool.request({ path: '/', method: 'POST' }), (error: unknown) => {
        assert(error instanceof DialError);
        assert.equal(error.result.kind, kind);
        return true;
      });
      assert.deepEqual(connector.dials, [], origin);
      await pool.destroy();
    }
    assert.deepEqual(hosts, []);
  });
});
