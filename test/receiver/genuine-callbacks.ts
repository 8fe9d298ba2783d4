// Genuine callbacks, signed with node:crypto and nothing of ours, and the tools of somebody who forges.
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  sign as signEd25519,
  type KeyObject,
} from 'node:crypto';

export interface Given {
  headers: Record<string, string | string[] | undefined>;
  body: Uint8Array;
}

/** One way to sign: what the sender does, and what the receiver is given. */
export interface Signer {
  version: 'v1' | 'v1a';
  /** `whsec_…` or `whpk_…` */
  secret: string;
  /** The bytes behind the prefix. */
  raw: Buffer;
  /** The signature of these bytes, without its version. */
  sign: (signed: Uint8Array) => Buffer;
}

export const nowS = 1_800_000_000;

/** The same for the same number. */
export function hmacSigner(number: number): Signer {
  const raw = seed(number);
  return {
    version: 'v1',
    secret: `whsec_${raw.toString('base64')}`,
    raw,
    sign: (signed) => createHmac('sha256', raw).update(signed).digest(),
  };
}

export function ed25519Signer(number: number): Signer {
  const key = privateKey(seed(number));
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return {
    version: 'v1a',
    secret: `whpk_${raw.toString('base64')}`,
    raw,
    sign: (signed) => signEd25519(null, signed, key),
  };
}

export const bodyText = '{"amount":10,"note":"café €"}';

export interface Facts {
  id: string;
  timestamp: string;
  body: string | Uint8Array;
}

export const facts: Facts = {
  id: 'evt_01jcz0000000000000000000aa',
  timestamp: String(nowS),
  body: bodyText,
};

export function genuine(signer: Signer, changes: Partial<Facts> = {}): Given {
  const all = { ...facts, ...changes };
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': all.id,
      'webhook-timestamp': all.timestamp,
      'webhook-signature': signatureOf(signer, all),
      'ringback-event': 'order.paid',
      'ringback-subscription': 'sub_01jcz0000000000000000000bb',
      'ringback-delivery': 'dlv_01jcz0000000000000000000aa_1',
      'ringback-attempt': '1',
      'ringback-hops': '1',
    },
    body: bytes(all.body),
  };
}

export function signatureOf(signer: Signer, changes: Partial<Facts> = {}): string {
  return versioned(signer, signer.sign(signedBytes(changes)));
}

export function versioned({ version }: Signer, signature: Uint8Array): string {
  return `${version},${Buffer.from(signature).toString('base64')}`;
}

export function signedBytes(changes: Partial<Facts> = {}): Buffer {
  const { id, timestamp, body } = { ...facts, ...changes };
  return Buffer.concat([Buffer.from(`${id}.${timestamp}.`), bytes(body)]);
}

export function bytes(body: string | Uint8Array): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body);
}

function seed(number: number): Buffer {
  return createHmac('sha256', 'secrets of the tests').update(String(number)).digest();
}

function privateKey(raw: Buffer): KeyObject {
  const head = Buffer.from('302e020100300506032b657004220420', 'hex');
  return createPrivateKey({ key: Buffer.concat([head, raw]), format: 'der', type: 'pkcs8' });
}
