// What a forger would try, one entry each: a genuine callback goes in, a forgery comes out. He has heard
// genuine callbacks and knows public keys, but no secret and no private key.
import type { ForgeryCode } from '../../src/receiver/receiver.ts';
import {
  bodyText,
  bytes,
  facts,
  nowS,
  signatureOf,
  signedBytes,
  type Given,
} from './genuine-callbacks.ts';
import {
  changedBody,
  flip,
  header,
  id,
  plus,
  signature,
  timestamp,
  type ForgeryKind,
} from './forge.ts';
import { forgedSignatures } from './forged-signatures.ts';

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
  ...['event', 'subscription', 'delivery', 'attempt', 'hops'].map((what): ForgeryKind => {
    const name = `ringback-${what}`;
    return {
      name: `two ${name}`,
      code: 'header_malformed',
      forge: header(name, (value) => `${value}, ${value}`),
    };
  }),
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
  ...forgedSignatures,
  ...times,
  ...ids,
  ...bodies,
  ...borders,
  ...others,
];
