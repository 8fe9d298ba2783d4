import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allowedTargets, explainTargets, whyExposed } from './exposure.ts';

type Exposure = Parameters<typeof whyExposed>[0];

const alone: Exposure = { host: '127.0.0.1', publicUrl: undefined, trustProxy: false, role: 'all' };

describe('whyExposed', () => {
  const cases: [exposure: Partial<Exposure>, reason: string | undefined][] = [
    [{}, undefined],
    [{ host: 'localhost' }, undefined],
    [{ host: '::1' }, undefined],
    [{ publicUrl: 'http://localhost:8080' }, undefined],
    [{ publicUrl: 'http://[::1]:8080' }, undefined],
    [{ publicUrl: 'http://127.0.0.1:8080/' }, undefined],
    [{ role: 'api' }, undefined],
    [{ host: '0.0.0.0' }, 'the service listens on 0.0.0.0'],
    [{ host: '::' }, 'the service listens on ::'],
    [{ host: '127.example' }, 'the service listens on 127.example'],
    [{ publicUrl: 'https://hooks.example' }, 'RINGBACK_PUBLIC_URL is https://hooks.example'],
    [{ publicUrl: 'http://10.0.0.7' }, 'RINGBACK_PUBLIC_URL is http://10.0.0.7'],
    [{ trustProxy: true }, 'RINGBACK_TRUST_PROXY is on'],
    [{ publicUrl: 'http://localhost', trustProxy: true }, 'RINGBACK_TRUST_PROXY is on'],
    [{ role: 'worker' }, 'RINGBACK_ROLE is worker'],
  ];
  for (const [exposure, reason] of cases) {
    it(`returns ${reason ?? 'nothing'} for ${JSON.stringify(exposure)}`, () => {
      assert.equal(whyExposed({ ...alone, ...exposure }), reason);
    });
  }
});

describe('allowedTargets', () => {
  it('allows loopback only while no other machine can reach the service', () => {
    assert.equal(allowedTargets(undefined, alone).text, 'loopback');
    assert.equal(allowedTargets(undefined, { ...alone, trustProxy: true }).text, 'none');
  });

  it('always follows the setting', () => {
    const proxied = { ...alone, trustProxy: true };
    assert.equal(allowedTargets('loopback,10.0.0.0/8', proxied).text, 'loopback,10.0.0.0/8');
    assert.equal(allowedTargets('none', alone).text, 'none');
  });
});

describe('explainTargets', () => {
  it('states what is allowed, why, and which setting changes it', () => {
    const said = (chosen: string | undefined, exposure: Partial<Exposure>): string =>
      explainTargets(allowedTargets(chosen, { ...alone, ...exposure }));
    assert.deepEqual(
      [
        said(undefined, {}),
        said(undefined, { publicUrl: 'https://hooks.example' }),
        said('none', {}),
        said('10.0.0.0/8', { trustProxy: true }),
      ],
      [
        'public addresses and loopback, because only this machine can reach the service; set RINGBACK_ALLOW_TARGETS to change this',
        'public addresses only, because RINGBACK_PUBLIC_URL is https://hooks.example; set RINGBACK_ALLOW_TARGETS to change this',
        'public addresses only, as set by RINGBACK_ALLOW_TARGETS',
        'public addresses and 10.0.0.0/8, as set by RINGBACK_ALLOW_TARGETS',
      ],
    );
  });
});
