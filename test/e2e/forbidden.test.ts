// No connection may go to a forbidden address. Every connect of a whole service is recorded, with hostile URLs, DNS
// rebinding, redirects and edits. Only connections to loopback are really made.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Connector } from '../../src/egress/http/connect.ts';
import type { Resolver } from '../../src/egress/guard/resolve.ts';
import { start } from '../api/harness.ts';
import { corpusMissing, hiddenAddress, readCorpus } from '../egress/corpus.ts';
import { receiveRaw } from './raw-receiver.ts';
import { receive } from './receiver.ts';
import {
  attempted,
  get,
  inState,
  onlyDelivery,
  patch,
  publish,
  quiet,
  subscribe,
  type DeliveryView,
  type Page,
} from './stage.ts';

const skip = corpusMissing ?? false;
const corpus = readCorpus();

const publicAddress = '93.184.215.14';
const hook = 'http://hooks.example/cb';
const forbidden = [
  '127.0.0.1',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '169.254.169.254',
  '100.100.100.200',
  '0.0.0.0',
  '255.255.255.255',
  '224.0.0.1',
  '::1',
  '::',
  'fe80::1',
  'fd00:ec2::254',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:a00:1::1',
];

/** Records every connect. Only loopback is reachable; other addresses refuse the connection, like a closed port. */
function recorder(): Connector & { dials: string[] } {
  const dials: string[] = [];
  return {
    dials,
    connect: async ({ address, port, signal }) => {
      dials.push(address);
      if (address !== '127.0.0.1') {
        throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
      }
      const socket = connect({ host: '127.0.0.1', port });
      await once(socket, 'connect', { signal });
      return socket;
    },
  };
}

/** A resolver whose answer the test can change. */
function changingNames(...first: string[]): Resolver & { addresses: readonly string[] } {
  const resolver = {
    addresses: first as readonly string[],
    resolve: async () => ({ kind: 'addresses' as const, addresses: resolver.addresses }),
  };
  return resolver;
}

const closed = { RINGBACK_ALLOW_TARGETS: 'none', RINGBACK_RETRY: '1h' };

describe('a hostile URL of the corpus', { skip }, () => {
  it('is refused by subscribe, so that there is nothing to connect to', async () => {
    const connector = recorder();
    const resolver = changingNames();
    await using service = await start({ env: closed, network: { connector }, resolver });
    const sample = corpus.filter(({ wrap }, index) => index % 16 === 0 || wrap === 'raw');
    assert.ok(sample.length > 250);
    for (const row of sample) {
      resolver.addresses = [hiddenAddress(row)];
      const body = { callbackUrl: row.url };
      const { status } = await service.call({ method: 'POST', path: '/subscribe', body });
      assert.equal(status, 422, row.url);
    }
    assert.equal((await publish(service, 'a')).deliveries, 0);
    assert.deepEqual(connector.dials, []);
  });

  it('that an operator allowed is blocked at the attempt once that is revoked', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'ringback-forbidden-'));
    await using _folder = {
      [Symbol.asyncDispose]: async () => rm(dataDir, { recursive: true }),
    };
    const env = {
      RINGBACK_DATA: dataDir,
      RINGBACK_API_KEY: randomBytes(24).toString('hex'),
      RINGBACK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      RINGBACK_RETRY: '1h',
    };
    const targets = new Set(corpus.map(({ target }) => target));
    const openable = [...targets].filter((one) => /^\d/.test(one) && !/^(0|224|255)\./.test(one));
    const allow = { RINGBACK_ALLOW_TARGETS: ['loopback', ...openable].join() };
    let accepted = 0;
    {
      await using generous = await start({ env: { ...env, ...allow } });
      for (const { url } of corpus.filter(({ wrap }) => /plain|https|upper|port/.test(wrap))) {
        if (accepted >= 200) break;
        const body = { callbackUrl: url };
        const { status } = await generous.call({ method: 'POST', path: '/subscribe', body });
        if (status === 201) accepted += 1;
      }
    }
    assert.ok(accepted >= 100, `${accepted} URLs were accepted`);
    const connector = recorder();
    await using service = await start({ env: { ...env, ...closed }, network: { connector } });
    const { eventId, deliveries } = await publish(service, 'a');
    assert.equal(deliveries, accepted);
    const path = `/deliveries?limit=500&eventId=${eventId}`;
    const { items } = await get<Page<DeliveryView>>(service, path);
    assert.equal(items.length, accepted);
    for (const { id } of items) {
      const { state, attempts } = await attempted(service, id);
      assert.deepEqual([state, attempts.length, attempts[0]?.error], ['due', 1, 'blocked']);
    }
    assert.deepEqual(connector.dials, []);
  });
});

describe('a name that was public at subscribe', () => {
  for (const address of forbidden) {
    it(`is blocked when it resolves to ${address}, alone or among public addresses`, async () => {
      const connector = recorder();
      const resolver = changingNames(publicAddress);
      await using service = await start({ env: closed, network: { connector }, resolver });
      await subscribe(service, hook);
      for (const answer of [[address], [publicAddress, address], [address, publicAddress]]) {
        resolver.addresses = answer;
        const id = await onlyDelivery(service, await publish(service, 'a'));
        const { state, attempts } = await attempted(service, id);
        assert.deepEqual([state, attempts.length, attempts[0]?.error], ['due', 1, 'blocked']);
        assert.ok(attempts[0]?.message?.includes('hooks.example'));
        if (!address.startsWith('::')) assert.ok(!JSON.stringify(attempts).includes(address));
      }
      assert.deepEqual(connector.dials, []);
    });
  }

  it('is resolved at every attempt: called while it is public, blocked afterwards', async () => {
    const connector = recorder();
    const resolver = changingNames(publicAddress);
    const rebinding: Connector = {
      connect: async (target) => {
        resolver.addresses = ['169.254.169.254'];
        return connector.connect(target);
      },
    };
    await using service = await start({
      env: { ...closed, RINGBACK_RETRY: '10ms,10ms' },
      network: { connector: rebinding },
      resolver,
    });
    await subscribe(service, hook);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await inState(service, id, 'dead');
    assert.deepEqual(
      attempts.map(({ error }) => error),
      ['refused', 'blocked', 'blocked'],
    );
    assert.deepEqual(connector.dials, [publicAddress]);
  });

  it('gets no data if the connection ends at another address', async () => {
    // Simulates a network that diverts connections: the socket leads to loopback.
    await using canary = await receiveRaw(() => undefined);
    const port = Number(new URL(canary.url).port);
    const astray: Connector = {
      connect: async () => {
        const socket = connect({ host: '127.0.0.1', port });
        await once(socket, 'connect');
        return socket;
      },
    };
    const resolver = changingNames(publicAddress);
    await using service = await start({ env: closed, network: { connector: astray }, resolver });
    await subscribe(service, hook);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await attempted(service, id);
    assert.equal(attempts[0]?.error, 'blocked');
    await canary.closed.reach(1);
    assert.deepEqual([canary.connected.count, canary.requests.count], [1, 0]);
  });

  it('is only called at the resolved addresses', async () => {
    const connector = recorder();
    const resolver = changingNames(publicAddress, '93.184.215.15');
    await using service = await start({ env: closed, network: { connector }, resolver });
    await subscribe(service, hook);
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await attempted(service, id);
    assert.equal(attempts[0]?.error, 'refused');
    assert.deepEqual(connector.dials, [publicAddress, '93.184.215.15']);
  });

  it('fails with dns and without a connect when it has no address any more', async () => {
    const connector = recorder();
    const resolver = changingNames(publicAddress);
    await using service = await start({ env: closed, network: { connector }, resolver });
    await subscribe(service, hook);
    resolver.addresses = [];
    const id = await onlyDelivery(service, await publish(service, 'a'));
    assert.equal((await attempted(service, id)).attempts[0]?.error, 'dns');
    assert.deepEqual(connector.dials, []);
  });
});

describe('a redirect', () => {
  for (const location of [
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://10.0.0.1:8080/',
    '//127.0.0.2/',
    'file:///etc/passwd',
  ]) {
    it(`to ${location} is recorded and not followed`, async () => {
      const connector = recorder();
      const env = { RINGBACK_ALLOW_TARGETS: '127.0.0.1', RINGBACK_RETRY: '10ms' };
      await using service = await start({ env, network: { connector } });
      await using receiver = await receive(() => ({ status: 302, headers: { location } }));
      await subscribe(service, receiver.url);
      const id = await onlyDelivery(service, await publish(service, 'a'));
      const { attempts } = await inState(service, id, 'dead');
      assert.deepEqual(
        attempts.map(({ error }) => error),
        ['redirect', 'redirect'],
      );
      assert.equal(attempts[0]?.response?.headers['location'], location);
      assert.equal(receiver.requests.length, 2);
      assert.ok(connector.dials.every((address) => address === '127.0.0.1'));
    });
  }
});

describe('a PATCH', () => {
  it('to a forbidden URL is refused, and callbacks still go to the old URL', async () => {
    const connector = recorder();
    const env = { RINGBACK_ALLOW_TARGETS: '127.0.0.1' };
    const names = { 'inside.example': ['10.0.0.1'], 'mixed.example': [publicAddress, '::1'] };
    await using service = await start({ env, network: { connector }, names });
    await using receiver = await receive();
    const { id } = await subscribe(service, receiver.url);
    const hosts = ['10.0.0.1', '127.0.0.2', '[::1]', '2130706434', '0x7f.2', '[::ffff:7f00:2]'];
    for (const host of [...hosts, 'inside.example', 'mixed.example', 'nowhere.example']) {
      const url = `http://${host}:9000/`;
      const { status, json } = await patch(service, id, { callbacks: [{ position: 0, url }] });
      assert.deepEqual([status, json['code']], [422, 'target_refused'], url);
    }
    await publish(service, 'a');
    await quiet(service);
    assert.equal(receiver.requests.length, 1);
    assert.deepEqual(connector.dials, ['127.0.0.1']);
  });

  it('to a name that becomes forbidden is blocked at the attempt', async () => {
    const connector = recorder();
    const resolver = changingNames(publicAddress);
    await using service = await start({ env: closed, network: { connector }, resolver });
    const { id: subscription } = await subscribe(service, hook);
    const callbacks = [{ position: 0, url: 'https://other.example/cb' }];
    assert.equal((await patch(service, subscription, { callbacks })).status, 200);
    resolver.addresses = ['fd00:ec2::254'];
    const id = await onlyDelivery(service, await publish(service, 'a'));
    const { attempts } = await attempted(service, id);
    assert.deepEqual(
      [attempts[0]?.error, attempts[0]?.request.url],
      ['blocked', 'https://other.example/cb'],
    );
    assert.deepEqual(connector.dials, []);
  });
});
