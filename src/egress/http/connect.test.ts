import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { after, describe, it } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { makeCertificate } from '../../../test/egress/certificate.ts';
import { sleepyWorld } from '../../../test/engine/sleepy-world.ts';
import type { World } from '../../core/base/world.ts';
import type { Connector, DialResult } from './connect.ts';
import { dial, openVetted, systemConnector } from './connect.ts';
import type { Guard, Vetted } from '../guard/guard.ts';
import { createGuard } from '../guard/guard.ts';
import { parseAllowTargets } from '../guard/allow-list.ts';
import type { Resolver } from '../guard/resolve.ts';

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

/** A server that records the first bytes of each connection. */
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

/** Skips the guard: some tests need targets that it would never allow. */
function vettedAs(href: string, addresses: string[]): Vetted {
  const read = guardOf('127.0.0.0/8,::1,10.0.0.0/8').read(href);
  assert(read.kind === 'url', href);
  return { kind: 'vetted', url: read.url, addresses };
}

/** Records the addresses it is asked for, and connects to what `goTo` returns. */
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

  it('does not dial an address that the current policy forbids', async () => {
    const connector = recorder(refusing);
    const vetted = vettedAs('http://127.0.0.1:3000/', ['127.0.0.1']);
    const result = await dial(vetted, { guard: guardOf('none'), connector });
    assert.equal(result.kind, 'blocked');
    assert.deepEqual(connector.dials, []);
  });

  it('blocks a socket that reached a forbidden address, before a byte is sent', async () => {
    const { server, heard } = listener();
    const port = await portOf(server);
    const connector = recorder(async () => toLoopback(port));
    const vetted = vettedAs(`https://example.com:${port}/`, [publicAddress, publicAddress]);
    const result = await dial(vetted, { guard: guardOf('none'), connector });
    assert.equal(result.kind, 'blocked');
    assert.deepEqual(connector.dials, [publicAddress]);
    assert.deepEqual(await heard, { bytes: 0 });
  });

  it('blocks a socket that reached an address other than the vetted one', async () => {
    const { server, heard } = listener();
    const port = await portOf(server);
    const connector = recorder(async () => toLoopback(port));
    const vetted = vettedAs(`http://hooks.example.com:${port}/`, ['127.0.0.2']);
    const result = await dial(vetted, { guard: guardOf('loopback'), connector });
    assert.equal(result.kind, 'blocked');
    assert.deepEqual(await heard, { bytes: 0 });
  });

  it('divides its time among the addresses and then fails with timeout', async () => {
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

  it('stops when the caller aborts', async () => {
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

  it('fails with connect when no server listens', async () => {
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

  it('sends the server name and checks the certificate against it', async () => {
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

  it('aborts a handshake that takes too long', async () => {
    const { world, clock, nextNap } = sleepyWorld();
    const greeted = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.once('data', greeted.resolve).on('error', () => undefined);
    });
    const port = await portOf(server);
    const vetted = vettedAs(`https://hooks.example.com:${port}/`, ['127.0.0.1']);
    const dialled = dial(vetted, { guard: guardOf('loopback'), timeoutMs: 50, world });
    const deadline = await nextNap();
    await greeted.promise;
    clock.ms += 50;
    deadline.wake();
    const result = await dialled;
    assert(result.kind === 'failed');
    assert.equal(result.reason, 'timeout');
  });
});

describe('systemConnector', () => {
  it('refuses names', async () => {
    const { signal } = new AbortController();
    const target = { address: 'localhost', port: 80, signal };
    await assert.rejects(systemConnector().connect(target), /expected an address/);
  });
});

describe('openVetted', () => {
  it('connects to the vetted address of a name', async () => {
    const port = await portOf(createServer((socket) => socket.end('hello')));
    const guard = guardOf('loopback', answering('127.0.0.1'));
    const result = await openVetted(`http://hooks.example.com:${port}/`, { guard });
    assert(result.kind === 'connected');
    assert.equal(result.address, '127.0.0.1');
    const [data] = await once(result.socket, 'data');
    assert.equal(String(data), 'hello');
    result.socket.destroy();
  });

  it('reaches an IPv6 address', { skip: ipv6 ? false : 'no ::1 here' }, async () => {
    const port = await portOf(createServer(), '::1');
    const result = await openVetted(`http://[::1]:${port}/`, { guard: guardOf('loopback') });
    assert(result.kind === 'connected');
    result.socket.destroy();
  });

  it('dials nothing for forbidden literals and names', async () => {
    for (const host of [
      '127.0.0.1',
      '[::ffff:127.0.0.1]',
      '2130706433',
      'localhost',
      'rebind.example.com',
    ]) {
      const connector = recorder(async () => toLoopback(4000));
      const guard = guardOf('none', answering('127.0.0.1'));
      const result = await openVetted(`http://${host}:4000/`, { guard, connector });
      assert.equal(result.kind, 'refused', host);
      assert.deepEqual(connector.dials, [], host);
    }
  });
});
