// The request of one attempt: what it is signed with, and when.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { KeyRing } from '../../src/core/secrets/seal.ts';
import { makeSigningSecret, type SigningSecret } from '../../src/core/secrets/signing-secret.ts';
import type { SendRequest } from '../../src/egress/http/exchange.ts';
import { requestOf } from '../../src/engine/deliver/attempt-request.ts';
import { createPrepare } from '../../src/engine/targets/prepared-target.ts';
import { sealSecrets } from '../../src/engine/targets/secrets.ts';
import type { Target } from '../../src/store/port/delivery-verbs.ts';
import { leased, owner, unsigned } from './one-delivery.ts';
import { virtualWorld } from './virtual-world.ts';

const startMs = 1_700_000_000_250;
const current = makeSigningSecret(new Uint8Array(32).fill(1), startMs);
const replaced = {
  ...makeSigningSecret(new Uint8Array(32).fill(2), startMs),
  expiresMs: startMs + 100,
};
const ring: KeyRing = [new Uint8Array(32)];

function requestAt(nowMs: number, target: Target): SendRequest {
  const prepare = createPrepare(ring, []);
  return requestOf({ world: { nowMs: () => nowMs }, prepare, timeoutMs: 1000 }, { leased, target });
}

function header({ headers }: SendRequest, name: string): string {
  return headers[headers.indexOf(name) + 1] ?? '';
}

function isSignedWith(request: SendRequest, { secret }: SigningSecret): boolean {
  const signature = new Webhook(secret).sign(
    header(request, 'webhook-id'),
    new Date(Number(header(request, 'webhook-timestamp')) * 1000),
    Buffer.from(request.body).toString(),
  );
  return header(request, 'webhook-signature').split(' ').includes(signature);
}

describe('requestOf', () => {
  const sealed = sealSecrets({ ring, world: virtualWorld() }, owner, [current, replaced]);
  const target: Target = { ...unsigned, secrets: sealed };

  it('signs with all secrets that are valid, with the time of the attempt', () => {
    const request = requestAt(startMs, target);
    assert(isSignedWith(request, current) && isSignedWith(request, replaced));
    assert.equal(header(request, 'webhook-timestamp'), String(Math.floor(startMs / 1000)));
    assert.equal(request.app, target.appNo);
  });

  it('does not sign with a secret that has expired', () => {
    const request = requestAt(startMs + 100, target);
    assert(isSignedWith(request, current) && !isSignedWith(request, replaced));
  });

  it('throws if secrets cannot be unsealed', () => {
    assert.throws(() => requestAt(startMs, { ...unsigned, secrets: new Uint8Array(40) }));
  });
});
