// Requests that are built ahead: what is sent equals what would be built at that moment.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { KeyRing } from '../../src/core/secrets/seal.ts';
import { makeSigningSecret, type SigningSecret } from '../../src/core/secrets/signing-secret.ts';
import type { SendRequest } from '../../src/egress/http/exchange.ts';
import { prepareRequests, requestOf } from '../../src/engine/deliver/attempt-request.ts';
import { createPrepare } from '../../src/engine/targets/prepared-target.ts';
import { sealSecrets } from '../../src/engine/targets/secrets.ts';
import type { Target } from '../../src/store/port/delivery-verbs.ts';
import { leased, owner, unsigned } from './one-delivery.ts';
import { virtualWorld } from './virtual-world.ts';

const startMs = 1_700_000_000_250;
const fresh = makeSigningSecret(new Uint8Array(32).fill(1), startMs);
const replaced = makeSigningSecret(new Uint8Array(32).fill(2), startMs);

const ring: KeyRing = [new Uint8Array(32)];
const sealing = { ring, world: virtualWorld() };

function targetOf({ secrets = [fresh], url = unsigned.url } = {}): Target {
  return { ...unsigned, url, secrets: sealSecrets(sealing, owner, secrets) };
}

function stage(target = targetOf()) {
  const clock = { ms: startMs };
  const printed: SendRequest[] = [];
  const known: { target: Target | undefined } = { target };
  const deps = {
    world: { nowMs: () => clock.ms },
    sender: { print: (request: SendRequest) => void printed.push(request) },
    targets: { known: () => known.target },
    prepare: createPrepare(ring, []),
    timeoutMs: 1000,
  };
  const delivery = { ...leased };
  return {
    clock,
    printed,
    known,
    prepareRequests: () => prepareRequests(deps, [delivery]),
    requestTo: (one: Target | undefined) => {
      assert(one !== undefined);
      return requestOf(deps, { leased: delivery, target: one });
    },
  };
}

function header({ headers }: SendRequest, name: string): string {
  return headers[headers.indexOf(name) + 1] ?? '';
}

function isSignedWith(request: SendRequest, { secret }: SigningSecret): boolean {
  const payload = Buffer.from(request.body).toString();
  const names = ['webhook-id', 'webhook-signature', 'webhook-timestamp'];
  const given = Object.fromEntries(names.map((name) => [name, header(request, name)]));
  const signature = new Webhook(secret).sign(
    given['webhook-id'] ?? '',
    new Date(Number(given['webhook-timestamp']) * 1000),
    payload,
  );
  return (given['webhook-signature'] ?? '').split(' ').includes(signature);
}

describe('a request that was built ahead', () => {
  it('is sent, once', () => {
    const on = stage();
    on.prepareRequests();
    on.clock.ms += 700;
    const [made] = on.printed;
    assert(made !== undefined && isSignedWith(made, fresh));
    assert.equal(made.app, on.known.target?.appNo);
    assert.equal(on.requestTo(on.known.target), made);
    const again = on.requestTo(on.known.target);
    assert.notEqual(again, made);
    assert.deepEqual(again, made);
  });

  for (const [when, stepMs] of Object.entries({ over: 750, 'still to come': -251 })) {
    it(`is built again when its second is ${when}`, () => {
      const on = stage();
      on.prepareRequests();
      on.clock.ms += stepMs;
      const sent = on.requestTo(on.known.target);
      assert.notEqual(sent, on.printed[0]);
      assert.equal(header(sent, 'webhook-timestamp'), String(Math.floor(on.clock.ms / 1000)));
      assert(isSignedWith(sent, fresh));
    });
  }

  it('is built again when its target has changed', () => {
    const on = stage();
    on.prepareRequests();
    const sent = on.requestTo(targetOf({ url: 'http://127.0.0.1:9001/', secrets: [replaced] }));
    assert.equal(sent.url, 'http://127.0.0.1:9001/');
    assert(isSignedWith(sent, replaced) && !isSignedWith(sent, fresh));
  });

  it('is built again when a secret has expired since', () => {
    const old = { ...replaced, expiresMs: startMs + 100 };
    const on = stage(targetOf({ secrets: [fresh, old] }));
    on.prepareRequests();
    assert(on.printed[0] !== undefined && isSignedWith(on.printed[0], old));
    on.clock.ms += 100;
    const sent = on.requestTo(on.known.target);
    assert(isSignedWith(sent, fresh) && !isSignedWith(sent, old));
  });

  it('is not built for an unknown target', () => {
    const on = stage();
    on.known.target = undefined;
    on.prepareRequests();
    assert.deepEqual(on.printed, []);
  });

  it('is not built if secrets cannot be unsealed; that is reported on sending', () => {
    const on = stage({ ...unsigned, secrets: new Uint8Array(40) });
    on.prepareRequests();
    assert.deepEqual(on.printed, []);
    assert.throws(() => on.requestTo(on.known.target));
  });
});
