// Every forgery of forgery-kinds.ts is refused, and the genuine callback that it was made from is taken
// by the same receiver in the same test: else a receiver that refuses all would pass.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createReceiver, ForgeryError, type Receiver } from '../../src/receiver/receiver.ts';
import {
  ed25519Signer,
  genuine,
  hmacSigner,
  nowS,
  type Given,
  type Signer,
} from './genuine-callbacks.ts';
import { forgeryKinds } from './forgery-kinds.ts';

const kinds = [
  { says: 'HMAC', signer: hmacSigner(1), other: hmacSigner(2) },
  { says: 'Ed25519', signer: ed25519Signer(1), other: ed25519Signer(2) },
];

/** How a callback is answered, what is said in the log, and how often the handler was called. */
async function answers(
  secret: string | readonly string[],
  given: Given,
): Promise<{ status: number; code: string; calls: number }> {
  let code = '';
  let calls = 0;
  const receiver = createReceiver({
    secret,
    now: () => nowS * 1000,
    report: (error) => (code = error instanceof ForgeryError ? error.code : String(error)),
  });
  const handler = (): void => void (calls += 1);
  const status = await receiver.answer(given, handler);
  const said = code; // fetch makes one header of two, and what it is said to be is another thing.
  await agreesWithVerify(receiver, given, said);
  const request = asRequest(given);
  if (request !== undefined) {
    const response = await receiver.handle(request, handler);
    assert.equal(response.status, status, 'fetch answers alike');
    assert.equal(await response.text(), '', 'and says nothing about why');
    calls /= 2;
  }
  return { status, code: said, calls };
}

async function agreesWithVerify(receiver: Receiver, given: Given, code: string): Promise<void> {
  const verdict = await receiver.verify(given).then(
    () => '',
    (error: unknown) => (error instanceof ForgeryError ? error.code : String(error)),
  );
  assert.equal(verdict, code);
}

/** Undefined where fetch itself cannot carry it, or carries something else. */
function asRequest({ headers, body }: Given): Request | undefined {
  const entries = Object.entries(headers);
  const isPlain = entries.every(([, value]) => typeof value === 'string' && value.trim() === value);
  const isAscii = entries.every(([, value]) => /^[\x20-\x7e]*$/.test(String(value)));
  if (!isPlain || !isAscii) return undefined;
  const init = { method: 'POST', body: Uint8Array.from(body) };
  const request = new Request('http://127.0.0.1/', init);
  for (const [name, value] of entries) request.headers.append(name, String(value));
  return request;
}

function forged(kind: (typeof forgeryKinds)[number], signer: Signer, other: Signer): Given {
  return kind.forge(genuine(signer), signer, other);
}

describe('a forgery', () => {
  it('has many kinds, each with its own name', () => {
    const names = forgeryKinds.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    assert.ok(names.length >= 25);
  });

  for (const { says, signer, other } of kinds) {
    describe(`of a callback signed with ${says} is refused`, () => {
      for (const kind of forgeryKinds) {
        if (kind.version !== undefined && kind.version !== signer.version) continue;
        it(kind.name, async () => {
          const taken = await answers(signer.secret, genuine(signer));
          assert.deepEqual(taken, { status: 200, code: '', calls: 1 });
          const given = forged(kind, signer, other);
          const expected = { status: 401, code: kind.code, calls: 0 };
          assert.deepEqual(await answers(signer.secret, given), expected);
          // Nor does it help that the receiver believes several, as during a rotation.
          const several = kinds.map(({ signer: one }) => one.secret);
          const verdict = await answers(several, given);
          assert.deepEqual([verdict.status, verdict.calls], [401, 0]);
        });
      }
    });
  }
});

describe('a single bit', () => {
  for (const { says, signer } of kinds) {
    it(`changed anywhere in what is signed with ${says}, or in the signature, is found`, async () => {
      const receiver = createReceiver({ secret: signer.secret, now: () => nowS * 1000 });
      const given = genuine(signer);
      await receiver.verify(given);
      const isRefused = async (changed: Given): Promise<void> => {
        await assert.rejects(receiver.verify(changed), ForgeryError);
      };
      for (let bit = 0; bit < given.body.length * 8; bit += 1) {
        const body = Uint8Array.from(given.body);
        body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        await isRefused({ ...given, body });
      }
      for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
        const text = Buffer.from(String(given.headers[name]), 'latin1');
        for (let bit = 0; bit < text.length * 8; bit += 1) {
          const changed = Buffer.from(text);
          changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
          await isRefused({
            ...given,
            headers: { ...given.headers, [name]: changed.toString('latin1') },
          });
        }
      }
    });
  }
});
