import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as tick } from 'node:timers/promises';
import {
  addresses,
  startNameServer,
  type NameAnswer,
  type NameServer,
} from '../../../test/egress/name-server.ts';
import type { World } from '../../core/base/world.ts';
import type { Resolver } from './resolve.ts';
import { localhostAddresses, systemResolver } from './resolve.ts';

const asked: string[] = [];
const fails = { kind: 'code', code: 2 } as const;
const both = addresses('192.0.2.1', '192.0.2.2', '2001:db8::1');
const zone: Readonly<Record<string, (family: 4 | 6) => NameAnswer>> = {
  'both.test': () => both,
  'four.test': () => addresses('192.0.2.1'),
  'six.test': () => addresses('2001:db8::1'),
  'empty.test': () => addresses(),
  'broken.test': () => fails,
  'silent.test': () => ({ kind: 'silent' }),
  'half.test': (family) => (family === 4 ? fails : addresses('2001:db8::1')),
};

let server: NameServer | undefined;
before(async () => {
  server = await startNameServer(({ name, family }) => {
    asked.push(name);
    return zone[name]?.(family) ?? { kind: 'code', code: 3 };
  });
});
after(async () => server?.[Symbol.asyncDispose]());

function resolver(world?: Pick<World, 'sleep'>): Resolver {
  return systemResolver(world, { servers: [server?.at ?? ''] });
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

  it('accepts one family', async () => {
    const four = await resolver().resolve('four.test');
    assert.deepEqual(four, { kind: 'addresses', addresses: ['192.0.2.1'] });
    const six = await resolver().resolve('six.test');
    assert.deepEqual(six, { kind: 'addresses', addresses: ['2001:db8::1'] });
  });

  it('returns missing for a name that does not exist or has no address', async () => {
    assert.deepEqual(await resolver().resolve('nowhere.test'), { kind: 'missing' });
    assert.deepEqual(await resolver().resolve('empty.test'), { kind: 'missing' });
  });

  it('returns failed when the name server fails', async () => {
    const found = await resolver().resolve('broken.test');
    assert.deepEqual(found, { kind: 'failed', reason: 'server' });
  });

  it('stops when its time is up', async () => {
    const { world, timeUp } = stoppedWorld();
    const pending = resolver(world).resolve('silent.test');
    await untilAsked('silent.test');
    timeUp();
    assert.deepEqual(await pending, { kind: 'failed', reason: 'timeout' });
  });

  it('stops when the caller aborts', async () => {
    const controller = new AbortController();
    const pending = resolver().resolve('silent.test', controller.signal);
    controller.abort();
    assert.deepEqual(await pending, { kind: 'failed', reason: 'aborted' });
    const late = await resolver().resolve('both.test', AbortSignal.abort());
    assert.deepEqual(late, { kind: 'failed', reason: 'aborted' });
    const live = await resolver().resolve('four.test', new AbortController().signal);
    assert.deepEqual(live, { kind: 'addresses', addresses: ['192.0.2.1'] });
  });

  it('uses the family that answered when the other one fails', async () => {
    const found = await resolver().resolve('half.test');
    assert.deepEqual(found, { kind: 'addresses', addresses: ['2001:db8::1'] });
  });
});

describe('localhostAddresses', () => {
  it('resolves localhost and the names below it', () => {
    for (const name of ['localhost', 'a.localhost', 'a.b.localhost']) {
      assert.deepEqual(localhostAddresses(name), ['127.0.0.1', '::1']);
    }
    for (const name of ['localhost.com', 'notlocalhost', '.localhost.a', '']) {
      assert.equal(localhostAddresses(name), undefined);
    }
  });
});
