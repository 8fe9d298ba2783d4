import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import type { World } from '../core/world.ts';
import { parseAddress } from './address.ts';
import type { Resolver } from './resolve.ts';
import { localhostAddresses, systemResolver } from './resolve.ts';

// A name server on loopback; no test asks a real one.
const server = createSocket('udp4');
const asked: string[] = [];
const zone: Record<
  string,
  { a?: string[]; aaaa?: string[]; code?: number; silent?: true; lameA?: true }
> = {
  'both.test': { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8::1'] },
  'four.test': { a: ['192.0.2.1'] },
  'six.test': { aaaa: ['2001:db8::1'] },
  'empty.test': {},
  'broken.test': { code: 2 },
  'silent.test': { silent: true },
  'half.test': { lameA: true, aaaa: ['2001:db8::1'] },
};

function reply(query: Buffer): Buffer | undefined {
  const labels: string[] = [];
  let at = 12;
  while (query.readUInt8(at) > 0) {
    const length = query.readUInt8(at);
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  const wantsA = query.readUInt16BE(at + 1) === 1;
  const name = labels.join('.').toLowerCase();
  asked.push(name);
  const entry = zone[name];
  if (entry?.silent === true) return undefined;
  const addresses = (wantsA ? entry?.a : entry?.aaaa) ?? [];
  const head = Buffer.from(query.subarray(0, 12));
  const code = wantsA && entry?.lameA === true ? 2 : (entry?.code ?? 0);
  head.writeUInt16BE(0x8180 | (entry === undefined ? 3 : code), 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt32BE(0, 8);
  const records = addresses.map((text) => record(text, wantsA ? 1 : 28));
  return Buffer.concat([head, query.subarray(12, at + 5), ...records]);
}

function record(text: string, type: 1 | 28): Buffer {
  const hex = parseAddress(text)?.value.toString(16) ?? '';
  const data = Buffer.from(hex.padStart(type === 1 ? 8 : 32, '0'), 'hex');
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([head, data]);
}

before(async () => {
  server.on('message', (query, from) => {
    const answer = reply(query);
    if (answer !== undefined) server.send(answer, from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => server.close());

function resolver(world?: Pick<World, 'sleep'>): Resolver {
  return systemResolver(world, { servers: [`127.0.0.1:${server.address().port}`] });
}

/** A world whose time is up as soon as the test says so. */
function stoppedWorld(): { world: Pick<World, 'sleep'>; timeUp: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { world: { sleep: async () => promise }, timeUp: resolve };
}

async function untilAsked(name: string): Promise<void> {
  while (!asked.includes(name)) await tick();
}

describe('systemResolver', () => {
  it('finds the addresses of both families', async () => {
    assert.deepEqual(await resolver().resolve('both.test'), {
      kind: 'addresses',
      addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    });
  });

  it('is content with one family', async () => {
    const four = await resolver().resolve('four.test');
    assert.deepEqual(four, { kind: 'addresses', addresses: ['192.0.2.1'] });
    const six = await resolver().resolve('six.test');
    assert.deepEqual(six, { kind: 'addresses', addresses: ['2001:db8::1'] });
  });

  it('says missing for a name that does not exist or has no address', async () => {
    assert.deepEqual(await resolver().resolve('nowhere.test'), { kind: 'missing' });
    assert.deepEqual(await resolver().resolve('empty.test'), { kind: 'missing' });
  });

  it('says failed when the name server fails', async () => {
    const found = await resolver().resolve('broken.test');
    assert.deepEqual(found, { kind: 'failed', reason: 'server' });
  });

  it('gives up when its time is over', async () => {
    const { world, timeUp } = stoppedWorld();
    const pending = resolver(world).resolve('silent.test');
    await untilAsked('silent.test');
    timeUp();
    assert.deepEqual(await pending, { kind: 'failed', reason: 'timeout' });
  });

  it('gives up when the caller does', async () => {
    const controller = new AbortController();
    const pending = resolver().resolve('silent.test', controller.signal);
    controller.abort();
    assert.deepEqual(await pending, { kind: 'failed', reason: 'aborted' });
    const late = await resolver().resolve('both.test', AbortSignal.abort());
    assert.deepEqual(late, { kind: 'failed', reason: 'aborted' });
  });

  it('takes the family that answered when the other one fails', async () => {
    const found = await resolver().resolve('half.test');
    assert.deepEqual(found, { kind: 'addresses', addresses: ['2001:db8::1'] });
  });
});

describe('localhostAddresses', () => {
  it('knows localhost and the names below it', () => {
    for (const name of ['localhost', 'a.localhost', 'a.b.localhost']) {
      assert.deepEqual(localhostAddresses(name), ['127.0.0.1', '::1']);
    }
    for (const name of ['localhost.com', 'notlocalhost', '.localhost.a', '']) {
      assert.equal(localhostAddresses(name), undefined);
    }
  });
});
