// What a forger would try, one entry each: a genuine callback goes in, a forgery comes out. He has heard
// genuine callbacks and knows public keys, but no secret and no private key.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import type { ForgeryCode } from '../../src/receiver/receiver.ts';
import {
  bodyText,
  bytes,
  facts,
  nowS,
  signatureOf,
  signedBytes,
  versioned,
  type Given,
  type Signer,
} from './genuine.ts';

export interface ForgeryKind {
  name: string;
  code: ForgeryCode;
  /** Of which signatures it makes sense; else of both. */
  version?: 'v1' | 'v1a';
  /** `other` is somebody whom the receiver does not trust. */
  forge: (genuine: Given, signer: Signer, other: Signer) => Given;
}

type Forge = ForgeryKind['forge'];

const id = 'webhook-id';
const timestamp = 'webhook-timestamp';
const signature = 'webhook-signature';

/** Another value of a header, made from the genuine one; undefined: without it. */
function header(name: string, change: (value: string) => string | string[] | undefined): Forge {
  return ({ headers, body }) => {
    const value = headers[name];
    assert(typeof value === 'string');
    return { headers: { ...headers, [name]: change(value) }, body };
  };
}

function changedBody(change: (text: string) => string | Uint8Array): Forge {
  return ({ headers }) => ({ headers, body: bytes(change(bodyText)) });
}

/** A signature by whatever the forger has, over whatever he likes. */
function signedBy(make: (signer: Signer, other: Signer) => string): Forge {
  return ({ headers, body }, signer, other) => ({
    headers: { ...headers, [signature]: make(signer, other) },
    body,
  });
}

/** The part behind `v1,` as bytes, changed. */
function signatureBytes(change: (raw: Buffer) => Uint8Array): Forge {
  return (given, signer, other) =>
    header(signature, (value) => versioned(signer, change(rawOf(value))))(given, signer, other);
}

function rawOf(value: string): Buffer {
  return Buffer.from(value.slice(value.indexOf(',') + 1), 'base64');
}

function flip(raw: Uint8Array, bit: number): Uint8Array {
  return raw.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
}

function plus(seconds: number): string {
  return String(nowS + seconds);
}

function hmac(key: string | Uint8Array, hash = 'sha256'): Buffer {
  return createHmac(hash, key).update(signedBytes()).digest();
}

/** The order of the curve's base point, little-endian. */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The same S, one turn further: the same signature to whoever does not look. */
function oneTurnFurther(raw: Buffer): Buffer {
  let s = BigInt(`0x${Buffer.from(raw.subarray(32)).reverse().toString('hex')}`) + groupOrder;
  const turned = Buffer.from(raw);
  for (let at = 32; at < 64; at += 1, s >>= 8n) turned[at] = Number(s & 255n);
  return turned;
}

const missing: ForgeryKind[] = [id, timestamp, signature].flatMap((name) => [
  { name: `no ${name}`, code: 'header_missing', forge: header(name, () => undefined) },
  { name: `an empty ${name}`, code: 'header_malformed', forge: header(name, () => '') },
]);

const repeated: ForgeryKind[] = [id, timestamp, signature].flatMap((name): ForgeryKind[] => [
  {
    name: `two ${name}, the same, joined by a proxy`,
    code: 'header_malformed',
    forge: header(name, (value) => `${value}, ${value}`),
  },
  {
    name: `two ${name}, joined without a space`,
    code: 'header_malformed',
    forge: header(name, (value) => `${value},${value}`),
  },
  {
    name: `two ${name}, one made up, joined`,
    code: 'header_malformed',
    forge: header(name, (value) => `1, ${value}`),
  },
  {
    name: `two ${name}, as a list`,
    code: 'header_repeated',
    forge: header(name, (value) => [value, value]),
  },
  {
    name: `a list of one ${name}`,
    code: 'header_repeated',
    forge: header(name, (value) => [value]),
  },
  {
    name: `two ${name}, in capitals and not`,
    code: 'header_repeated',
    forge: ({ headers, body }) => ({
      headers: { ...headers, [name.toUpperCase()]: headers[name] },
      body,
    }),
  },
  {
    name: `${name} under a name with underscores`,
    code: 'header_missing',
    forge: ({ headers: { [name]: value, ...headers }, body }) => ({
      headers: { ...headers, [name.replace('-', '_')]: value },
      body,
    }),
  },
]);

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

const times: ForgeryKind[] = (
  [
    ['a second too old', 'too_old', () => plus(-301)],
    ['a day old', 'too_old', () => plus(-86_400)],
    ['from 1970', 'too_old', () => '1'],
    ['a second too far ahead', 'too_new', () => plus(301)],
    ['in milliseconds', 'too_new', () => plus(0).slice(0, 9) + '000'],
    ['the largest there is', 'too_new', () => '9'.repeat(12)],
    ['of 13 digits', 'header_malformed', () => '9'.repeat(13)],
    ['of a thousand digits', 'header_malformed', () => '9'.repeat(1_000)],
    ['changed by a second', 'signature_wrong', () => plus(1)],
    ['with letters behind', 'header_malformed', (v) => `${v}abc`],
    ['with a plus', 'header_malformed', (v) => `+${v}`],
    ['negative', 'header_malformed', (v) => `-${v}`],
    ['with a zero in front', 'header_malformed', (v) => `0${v}`],
    ['zero', 'header_malformed', () => '0'],
    ['with a space in front', 'header_malformed', (v) => ` ${v}`],
    ['with a space behind', 'header_malformed', (v) => `${v} `],
    ['with a line break behind', 'header_malformed', (v) => `${v}\n`],
    ['with a fraction', 'header_malformed', (v) => `${v}.0`],
    ['with a dot', 'header_malformed', (v) => `${v}.`],
    ['with an exponent', 'header_malformed', () => '1.8e9'],
    ['in hexadecimal', 'header_malformed', () => `0x${nowS.toString(16)}`],
    ['with separators', 'header_malformed', () => '1_800_000_000'],
    ['as a date', 'header_malformed', () => new Date(nowS * 1000).toISOString()],
    ['NaN', 'header_malformed', () => 'NaN'],
    ['Infinity', 'header_malformed', () => 'Infinity'],
    ['in wide digits', 'header_malformed', (v) => alike(v, 0xff10)],
    ['in Arabic digits', 'header_malformed', (v) => alike(v, 0x0660)],
  ] satisfies [string, ForgeryCode, (value: string) => string][]
).map(([what, code, change]) => ({
  name: `a time: ${what}`,
  code,
  forge: header(timestamp, change),
}));

function alike(digits: string, zero: number): string {
  return digits.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
}

const ids: ForgeryKind[] = (
  [
    ['of another event', 'signature_wrong', () => 'evt_01jcz0000000000000000000ab'],
    ['in capitals', 'signature_wrong', (v) => v.toUpperCase()],
    ['a character less', 'signature_wrong', (v) => v.slice(0, -1)],
    ['a character more', 'signature_wrong', (v) => `${v}a`],
    ['with a Cyrillic letter', 'header_malformed', (v) => v.replace('e', 'е')],
    ['with a character of no width', 'header_malformed', (v) => `${v}\u200b`],
    ['with a space behind', 'header_malformed', (v) => `${v} `],
    ['with a line break and a header', 'header_malformed', (v) => `${v}\r\nx: y`],
    ['with a NUL', 'header_malformed', (v) => `${v}\0`],
    ['of 257 characters', 'header_malformed', () => 'x'.repeat(257)],
    ['with a dot', 'header_malformed', (v) => `${v}.`],
  ] satisfies [string, ForgeryCode, (value: string) => string][]
).map(([what, code, change]) => ({ name: `an id: ${what}`, code, forge: header(id, change) }));

const bodies: ForgeryKind[] = (
  [
    ['another amount', (t) => t.replace('10', '99')],
    ['one bit changed', (t) => flip(bytes(t), 40)],
    ['the last bit changed', (t) => flip(bytes(t), bytes(t).length * 8 - 1)],
    ['a byte less', (t) => bytes(t).subarray(0, -1)],
    ['a byte less in front', (t) => bytes(t).subarray(1)],
    ['a space more', (t) => `${t} `],
    ['a line break behind', (t) => `${t}\n`],
    ['a NUL behind', (t) => `${t}\0`],
    ['a byte order mark in front', (t) => `\ufeff${t}`],
    ['nothing', () => ''],
    ['a member more', (t) => t.replace('}', ',"amount":99}')],
    ['parsed and printed again', (t) => JSON.stringify(JSON.parse(t), undefined, 1)],
    ['accents taken apart', (t) => t.normalize('NFD')],
    ['in Latin-1', (t) => Buffer.from(t, 'latin1')],
    ['in UTF-16', (t) => Buffer.from(t, 'utf16le')],
    ['a letter escaped', (t) => t.replace('é', String.raw`\u00e9`)],
    ['twice', (t) => t + t],
    ['the signed bytes themselves', () => signedBytes()],
  ] satisfies [string, (text: string) => string | Uint8Array][]
).map(([what, change]) => ({
  name: `a body: ${what}`,
  code: 'signature_wrong',
  forge: changedBody(change),
}));

/**
 * A dot in an id moves the borders between id, time and body within the same signed bytes, with a
 * signature that fits. The genuine callback is a day old, and its body, a number, begins like a time.
 */
const borders: ForgeryKind[] = [
  {
    name: 'the old time as part of the id, and a number at the start of the body as the time',
    code: 'header_malformed',
    forge: (_given, own) => {
      const old = { id: 'evt_x', timestamp: plus(-86_400), body: `${plus(0)}.25` };
      return shifted(signatureOf(own, old), `evt_x.${old.timestamp}`, plus(0), '25');
    },
  },
  {
    name: 'the end of an id as the time, and the time as part of the body',
    code: 'header_malformed',
    // Nobody here signs such an id. Whoever did would have given this away as well.
    forge: (_given, own) =>
      shifted(signatureOf(own), `${facts.id}.${facts.timestamp}`, bodyText.slice(0, 3), 'x'),
  },
  {
    name: 'the time as part of the id, with nothing left of it',
    code: 'header_malformed',
    forge: (_given, own) => shifted(signatureOf(own), `${facts.id}.${plus(0)}`, '', bodyText),
  },
  {
    name: 'a time with the start of the body behind a dot',
    code: 'header_malformed',
    forge: (_given, own) =>
      shifted(signatureOf(own, { body: '12.5' }), facts.id, `${plus(0)}.12`, '5'),
  },
];

function shifted(by: string, madeUp: string, at: string, text: string): Given {
  return { headers: { [id]: madeUp, [timestamp]: at, [signature]: by }, body: bytes(text) };
}

const others: ForgeryKind[] = [
  ...['ringback-event', 'ringback-subscription', 'ringback-delivery', 'ringback-attempt'].map(
    (name): ForgeryKind => ({
      name: `two ${name}`,
      code: 'header_malformed',
      forge: header(name, (value) => `${value}, ${value}`),
    }),
  ),
  {
    name: 'an attempt that is no number',
    code: 'header_malformed',
    forge: header('ringback-attempt', () => '-1'),
  },
  {
    name: 'headers of another standard',
    code: 'header_missing',
    forge: ({ headers, body }) => ({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
      ),
      body,
    }),
  },
  {
    name: 'the headers of the prototype',
    code: 'header_missing',
    forge: ({ headers, body }) => ({ headers: Object.create(headers), body }),
  },
];

export const forgeryKinds: readonly ForgeryKind[] = [
  ...missing,
  ...repeated,
  ...wrongSignatures,
  ...wrongKinds,
  ...shapes,
  ...changedBytes,
  ...times,
  ...ids,
  ...bodies,
  ...borders,
  ...others,
];
