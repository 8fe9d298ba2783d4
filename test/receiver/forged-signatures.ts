// Forgeries of the signature: by another, of something else, of another kind, in another spelling, changed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { ForgeryCode } from '../../src/receiver/receiver.ts';
import {
  bodyText,
  bytes,
  facts,
  signatureOf,
  signedBytes,
  versioned,
  type Signer,
} from './genuine-callbacks.ts';
import {
  flip,
  header,
  hmac,
  plus,
  rawOf,
  signature,
  signatureBytes,
  signedBy,
  type ForgeryKind,
} from './forge.ts';

/** The order of the curve's base point, little-endian. */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The same S, one turn further: the same signature to whoever does not look. */
function oneTurnFurther(raw: Buffer): Buffer {
  let s = BigInt(`0x${Buffer.from(raw.subarray(32)).reverse().toString('hex')}`) + groupOrder;
  const turned = Buffer.from(raw);
  for (let at = 32; at < 64; at += 1, s >>= 8n) turned[at] = Number(s & 255n);
  return turned;
}

const wrongSignatures: ForgeryKind[] = [
  ['by another secret', (_: Signer, other: Signer) => signatureOf(other)],
  ['of another id', (own: Signer) => signatureOf(own, { id: 'evt_other' })],
  ['of another time', (own: Signer) => signatureOf(own, { timestamp: plus(1) })],
  ['of another body', (own: Signer) => signatureOf(own, { body: '{}' })],
  ['of the body alone', (own: Signer) => versioned(own, own.sign(bytes(bodyText)))],
  [
    'of id and body without the time',
    (own: Signer) => versioned(own, own.sign(bytes(`${facts.id}.${bodyText}`))),
  ],
  [
    'of time, then id',
    (own: Signer) => versioned(own, own.sign(bytes(`${facts.timestamp}.${facts.id}.${bodyText}`))),
  ],
  [
    'of a hash of the body',
    (own: Signer) =>
      versioned(
        own,
        own.sign(signedBytes({ body: createHash('sha256').update(bodyText).digest() })),
      ),
  ],
  ['of zeros', (own: Signer) => versioned(own, Buffer.alloc(own.sign(bytes('')).length))],
  ['of ones', (own: Signer) => versioned(own, Buffer.alloc(own.sign(bytes('')).length, 0xff))],
  ['of a hash without a key', (own: Signer) => versioned(own, sized(own, hashOf()))],
  ['by an empty key', (own: Signer) => versioned(own, sized(own, hmac('')))],
  ['by a key of zeros', (own: Signer) => versioned(own, sized(own, hmac(Buffer.alloc(32))))],
  ['by the id as key', (own: Signer) => versioned(own, sized(own, hmac(facts.id)))],
].map(([what, make]): ForgeryKind => {
  assert(typeof what === 'string' && typeof make === 'function');
  return { name: `a signature ${what}`, code: 'signature_wrong', forge: signedBy(make) };
});

function hashOf(): Buffer {
  return createHash('sha256').update(signedBytes()).digest();
}

/** As long as a signature of that kind is. */
function sized({ version }: Signer, raw: Buffer): Buffer {
  return version === 'v1' ? raw : Buffer.concat([raw, raw]);
}

const wrongKinds: ForgeryKind[] = [
  {
    name: 'HMAC with the public key as its key',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signedBy(({ raw }) => `v1,${hmac(raw).toString('base64')}`),
  },
  {
    name: 'HMAC with the text of the public key as its key',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signedBy(({ secret }) => `v1,${hmac(secret).toString('base64')}`),
  },
  {
    name: 'HMAC with the public key, said to be Ed25519',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signedBy(({ raw }) => `v1a,${hmac(raw, 'sha512').toString('base64')}`),
  },
  {
    name: 'both kinds with the public key as a secret',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signedBy(({ raw }, other) => `v1,${hmac(raw).toString('base64')} ${signatureOf(other)}`),
  },
  ...[0, 1].map((low): ForgeryKind => {
    const point = Buffer.alloc(64);
    point[0] = low;
    return {
      name: `an Ed25519 signature of the point ${low} and nothing`,
      code: 'signature_wrong',
      version: 'v1a',
      forge: signatureBytes(() => point),
    };
  }),
  {
    name: 'an Ed25519 signature whose S is one turn further',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signatureBytes(oneTurnFurther),
  },
  {
    name: 'an Ed25519 signature with its halves swapped',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signatureBytes((raw) => Buffer.concat([raw.subarray(32), raw.subarray(0, 32)])),
  },
  {
    name: 'the R of a genuine signature with another S',
    code: 'signature_wrong',
    version: 'v1a',
    forge: signedBy((own, other) =>
      versioned(
        own,
        Buffer.concat([
          own.sign(signedBytes()).subarray(0, 32),
          other.sign(signedBytes()).subarray(32),
        ]),
      ),
    ),
  },
  ...['sha1', 'sha384', 'sha512'].map((hash): ForgeryKind => ({
    name: `HMAC by the secret, but with ${hash}`,
    code: 'signature_wrong',
    version: 'v1',
    forge: signedBy(({ raw }) => `v1,${hmac(raw, hash).subarray(0, 32).toString('base64')}`),
  })),
  {
    name: 'HMAC with the text of the secret as its key',
    code: 'signature_wrong',
    version: 'v1',
    forge: signedBy(({ secret }) => `v1,${hmac(secret).toString('base64')}`),
  },
];

const shapes: ForgeryKind[] = (
  [
    ['a version and nothing else', 'header_malformed', (v) => v.slice(0, v.indexOf(','))],
    ['a version, a comma, and nothing', 'header_malformed', (v) => v.slice(0, v.indexOf(',') + 1)],
    ['without its version', 'header_malformed', (v) => v.slice(v.indexOf(',') + 1)],
    ['with an empty version', 'header_malformed', (v) => v.slice(v.indexOf(','))],
    ['version v2', 'signature_wrong', (v) => v.replace(/^v1a?/, 'v2')],
    ['version v0', 'signature_wrong', (v) => v.replace(/^v1a?/, 'v0')],
    ['version v01', 'signature_wrong', (v) => v.replace(/^v1/, 'v01')],
    ['version v1b', 'signature_wrong', (v) => v.replace(/^v1a?/, 'v1b')],
    [
      'the other known version',
      'signature_wrong',
      (v) => (v.startsWith('v1a') ? v.replace('v1a', 'v1') : v.replace('v1', 'v1a')),
    ],
    ['its version in capitals', 'header_malformed', (v) => v.replace('v', 'V')],
    ['its version in wide letters', 'header_malformed', (v) => v.replace('v', 'ｖ')],
    ['its version with a wide one', 'header_malformed', (v) => v.replace('1', '１')],
    ['a Cyrillic letter in it', 'header_malformed', (v) => v.replace(/.{4}$/, 'а$&')],
    ['an equals sign for the comma', 'header_malformed', (v) => v.replace(',', '=')],
    ['a space behind the comma', 'header_malformed', (v) => v.replace(',', ', ')],
    ['a space before the comma', 'header_malformed', (v) => v.replace(',', ' ,')],
    ['a space in front', 'header_malformed', (v) => ` ${v}`],
    ['a space behind', 'header_malformed', (v) => `${v} `],
    ['two spaces between two', 'header_malformed', (v) => `v9,x  ${v}`],
    ['a tab between two', 'header_malformed', (v) => `v9,x\t${v}`],
    ['a line break behind', 'header_malformed', (v) => `${v}\n`],
    ['a line break in it', 'header_malformed', (v) => `${v.slice(0, 20)}\n${v.slice(20)}`],
    ['a NUL behind', 'header_malformed', (v) => `${v}\0`],
    ['in quotes', 'header_malformed', (v) => `"${v}"`],
    ['a third part', 'header_malformed', (v) => `${v},x`],
    ['two with a comma between', 'header_malformed', (v) => `v9,x,${v}`],
    ['a semicolon between two', 'header_malformed', (v) => `v9,x;${v}`],
    ['nine of them, the last genuine', 'header_malformed', (v) => `${'v1,x '.repeat(8)}${v}`],
    ['a header of 1,025 characters', 'header_malformed', (v) => `v9,${'x'.repeat(1_021)} ${v}`],
    ['a character less', 'signature_wrong', (v) => v.slice(0, -1)],
    ['without padding', 'signature_wrong', (v) => v.replaceAll('=', '')],
    ['with more padding', 'signature_wrong', (v) => `${v}=`],
    ['with four more of padding', 'signature_wrong', (v) => `${v}====`],
    ['in the alphabet for URLs', 'signature_wrong', urlAlphabet],
    ['as hexadecimal', 'signature_wrong', (v) => `${head(v)},${rawOf(v).toString('hex')}`],
    ['with bits that mean nothing', 'signature_wrong', loosen],
    [
      'in capitals',
      'signature_wrong',
      (v) => `${head(v)},${v.slice(head(v).length + 1).toUpperCase()}`,
    ],
    ['base64 twice', 'signature_wrong', (v) => `${head(v)},${btoa(v.slice(head(v).length + 1))}`],
    ['with a percent sign', 'signature_wrong', (v) => v.replace('=', '%3D')],
  ] satisfies [string, ForgeryCode, (value: string) => string][]
).map(([what, code, change]) => ({
  name: `a signature: ${what}`,
  code,
  forge: header(signature, change),
}));

function head(value: string): string {
  return value.slice(0, value.indexOf(','));
}

/** With a character of the other alphabet, also where the genuine one has none. */
function urlAlphabet(value: string): string {
  const changed = value.replaceAll('+', '-').replaceAll('/', '_');
  return changed === value ? value.replace(/.(?=.{6}$)/, '_') : changed;
}

/** The last character before the padding, with bits that a lenient decoder throws away. */
function loosen(value: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const last = value.replace(/=+$/, '').length - 1;
  const loose = alphabet.charAt(alphabet.indexOf(value.charAt(last)) + 1);
  const changed = value.slice(0, last) + loose + value.slice(last + 1);
  assert.deepEqual(rawOf(changed), rawOf(value), 'a lenient decoder sees no difference');
  return changed;
}

const changedBytes: ForgeryKind[] = [
  {
    name: 'a signature of a byte less',
    code: 'signature_wrong',
    forge: signatureBytes((raw) => raw.subarray(0, -1)),
  },
  {
    name: 'a signature of a byte more',
    code: 'signature_wrong',
    forge: signatureBytes((raw) => Buffer.concat([raw, Buffer.of(0)])),
  },
  {
    name: 'a signature twice as long',
    code: 'signature_wrong',
    forge: signatureBytes((raw) => Buffer.concat([raw, raw])),
  },
  {
    name: 'the first four bytes of a signature',
    code: 'signature_wrong',
    forge: signatureBytes((raw) => raw.subarray(0, 4)),
  },
  ...[0, 7, 100, 255].map((bit): ForgeryKind => ({
    name: `bit ${bit} of the signature changed`,
    code: 'signature_wrong',
    forge: signatureBytes((raw) => flip(raw, bit)),
  })),
];

export const forgedSignatures: readonly ForgeryKind[] = [
  ...wrongSignatures,
  ...wrongKinds,
  ...shapes,
  ...changedBytes,
];
