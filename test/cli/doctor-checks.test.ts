// The checks of `ringback doctor` that need no store: certificate, runtime, disk, clocks, DNS, public URL.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkPublicUrl, checkTargets } from '../../src/cli/doctor/address.ts';
import { checkCertificate } from '../../src/cli/doctor/certificate.ts';
import {
  checkClocks,
  checkNames,
  nameToLookUp,
  checkRuntime,
} from '../../src/cli/doctor/doctor.ts';
import { assessClock, assessDisk } from '../../src/cli/doctor/store-file.ts';
import { assessAhead } from '../../src/cli/doctor/store-server.ts';
import { allowedTargets } from '../../src/config/exposure.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { makeCertificate } from '../egress/certificate.ts';
import { newFolder } from './ringback-process.ts';

describe('checkCertificate', () => {
  const nowMs = Date.UTC(2026, 10, 15);
  const cases: [until: string, publicUrl: string | undefined, found: RegExp][] = [
    ['20271115', undefined, /^ok certificate valid for 365 more days, key matches$/],
    ['20271115', 'https://hooks.test', /^ok /],
    ['20271115', 'https://127.0.0.1', /^ok /],
    ['20271115', 'https://other.test', /^warning The certificate is not valid for "other.test"/],
    ['20261120', undefined, /^warning The certificate expires in 5 days$/],
    ['20261101', undefined, /^failed The certificate expired on 2026-11-01$/],
  ];
  for (const [until, publicUrl, expected] of cases) {
    it(`checks one that is valid until ${until}, for ${publicUrl}`, async () => {
      await using folder = await newFolder();
      const { certificate, key } = makeCertificate('hooks.test', { until });
      const [tlsCert, tlsKey] = ['cert.pem', 'key.pem'].map((name) => join(folder.path, name));
      assert(tlsCert !== undefined && tlsKey !== undefined);
      writeFileSync(tlsCert, certificate);
      writeFileSync(tlsKey, key);
      const { state, message } = checkCertificate({ tlsCert, tlsKey, publicUrl }, nowMs);
      assert.match(`${state} ${message}`, expected);
    });
  }

  it('detects a key of another certificate, and files that are not keys or certificates', async () => {
    await using folder = await newFolder();
    const tlsCert = join(folder.path, 'cert.pem');
    const tlsKey = join(folder.path, 'key.pem');
    writeFileSync(tlsCert, makeCertificate('a.test').certificate);
    writeFileSync(tlsKey, makeCertificate('b.test').key);
    const files = { tlsCert, tlsKey, publicUrl: undefined };
    assert.match(checkCertificate(files, nowMs).message, /does not belong to the certificate/);
    writeFileSync(tlsKey, 'no key');
    assert.match(checkCertificate(files, nowMs).message, /^Cannot read the certificate or its key/);
    const early = checkCertificate({ ...files, tlsKey: tlsCert }, Date.UTC(2019, 0, 1));
    assert.equal(early.state, 'failed');
  });
});

describe('a small check', () => {
  it('requires a recent runtime', () => {
    assert.equal(checkRuntime('24.12.0', '24.12').state, 'ok');
    assert.equal(checkRuntime('26.1.0').state, 'ok');
    assert.match(checkRuntime('24.2.0').message, /runs on Node 24\.2\.0, expected 24\.12 or newer/);
  });

  it('requires free disk space', () => {
    assert.equal(assessDisk(5e9).state, 'ok');
    assert.equal(assessDisk(5e8).state, 'warning');
    assert.deepEqual([assessDisk(5e6).state, assessDisk(5e6).message], ['failed', '0.0 GB free']);
  });

  it('requires clocks that advance and agree', async () => {
    const world = realWorld();
    assert.equal((await checkClocks(world)).state, 'ok');
    const sleep = async (): Promise<void> => undefined;
    const stuck = { nowMs: () => world.nowMs(), monotonicMs: () => 5, sleep };
    assert.match((await checkClocks(stuck)).message, /monotonic clock advanced 0 ms/);
    const unset = { ...stuck, nowMs: () => 0 };
    assert.match((await checkClocks(unset)).message, /system clock says 1970/);
    const states = [100, 5_000, -120_000].map((aheadMs) => assessAhead(aheadMs));
    assert.deepEqual(
      states.map(({ state }) => state),
      ['ok', 'warning', 'failed'],
    );
    assert.match(states[1]?.message ?? '', /5\.0 s behind the database server’s/);
    assert.match(states[2]?.message ?? '', /120\.0 s ahead of the database server’s/);
    assert.equal(assessClock(1_000_000, 950_000).state, 'ok');
    assert.match(assessClock(1_000_000, 0).message, /last used 1000 s after that/);
  });

  it('warns if names cannot be resolved', async () => {
    const answering = (kind: 'missing' | 'failed' | 'addresses') => ({
      resolve: async () => {
        if (kind === 'missing') return { kind };
        if (kind === 'failed') return { kind, reason: 'timeout' } as const;
        return { kind, addresses: ['192.0.2.7'] };
      },
    });
    const say = async (kind: 'missing' | 'failed' | 'addresses'): Promise<string> => {
      const { state, message } = await checkNames(answering(kind), 'a.test');
      return `${state} ${message}`;
    };
    assert.equal(await say('addresses'), 'ok "a.test" resolves to 192.0.2.7');
    assert.equal(await say('missing'), 'warning The name server has no address for "a.test"');
    assert.match(await say('failed'), /^warning The name server does not respond in time/);
    assert.equal(nameToLookUp('x.test', 'https://y.test'), 'x.test');
    assert.equal(nameToLookUp(undefined, 'https://y.test/'), 'y.test');
    assert.equal(nameToLookUp(undefined, 'https://[::1]:8080'), 'example.com');
    assert.equal(nameToLookUp(undefined, undefined), 'example.com');
  });

  it('shows which targets callbacks can reach, why, and the setting for it', () => {
    const reach = {
      host: '127.0.0.1',
      publicUrl: undefined,
      trustProxy: true,
      role: 'all',
    } as const;
    const { state, message } = checkTargets({ targets: allowedTargets(undefined, reach) });
    assert.equal(
      `${state} ${message}`,
      'ok callbacks can reach public addresses only, because RINGBACK_TRUST_PROXY is on; ' +
        'set RINGBACK_ALLOW_TARGETS to change this',
    );
  });

  it('requires a public URL that clients can use safely', () => {
    const assess = (publicUrl: string | undefined, host: string): string =>
      checkPublicUrl({ publicUrl, host }).state;
    assert.equal(assess(undefined, '127.0.0.1'), 'ok');
    assert.equal(assess(undefined, '0.0.0.0'), 'warning');
    assert.equal(assess('http://hooks.example.com', '0.0.0.0'), 'warning');
    assert.equal(assess('https://hooks.example.com', '0.0.0.0'), 'ok');
  });
});
