// Forged requests for receivers, derived from a genuine one that the public package `standardwebhooks` has
// signed. They are sent as bytes, because no HTTP client would send some of them.
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface Callback {
  headers: readonly (readonly [name: string, value: string])[];
  body: string;
}

/** The parts of a genuine callback. */
export interface Parts {
  id: string;
  timestampS: number;
  body: string;
  signature: string;
}

export interface Forgery {
  kind: string;
  callback: Callback;
}

export const nowS = (): number => Math.floor(Date.now() / 1000);

let made = 0;

export function newId(): string {
  made += 1;
  return `evt_${String(made).padStart(4, '0')}${randomBytes(4).toString('hex')}`;
}

/** Signed by the package, with a new body each time whose signature differs in base64url. */
export function genuineParts(secret: string, timestampS = nowS(), id = newId()): Parts {
  for (;;) {
    const body = JSON.stringify({ message: `ünïcode ✓ ${randomBytes(6).toString('hex')}` });
    const signature = signHmac(secret, { id, timestampS, body });
    if (/[+/]/.test(signature)) return { id, timestampS, body, signature };
  }
}

export function signHmac(
  secret: string,
  { id, timestampS, body }: Omit<Parts, 'signature'>,
): string {
  return new Webhook(secret).sign(id, new Date(timestampS * 1000), body);
}

export function callbackOf({ id, timestampS, body, signature }: Parts): Callback {
  return {
    headers: [
      ['webhook-id', id],
      ['webhook-timestamp', String(timestampS)],
      ['webhook-signature', signature],
    ],
    body,
  };
}

function without({ headers, body }: Callback, name: string): Callback {
  return { headers: headers.filter(([one]) => one !== name), body };
}

function replaced({ headers, body }: Callback, name: string, value: string): Callback {
  return { headers: headers.map(([one, old]) => [one, one === name ? value : old]), body };
}

function added({ headers, body }: Callback, name: string, value: string): Callback {
  return { headers: [...headers, [name, value]], body };
}

/** Forgeries for both kinds of signature; `sign` creates a genuine one. */
export function commonForgeries(sign: (parts: Omit<Parts, 'signature'>) => string): Forgery[] {
  const fresh = (timestampS = nowS(), id = newId()): Parts => {
    const body = JSON.stringify({ message: `pay 10 ${randomBytes(4).toString('hex')}` });
    return { id, timestampS, body, signature: sign({ id, timestampS, body }) };
  };
  const rows: Forgery[] = [];
  const add = (kind: string, forge: (genuine: Callback, parts: Parts) => Callback): void => {
    const parts = fresh();
    rows.push({ kind, callback: forge(callbackOf(parts), parts) });
  };
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    add(`no ${name}`, (genuine) => without(genuine, name));
    add(`an empty ${name}`, (genuine) => replaced(genuine, name, ''));
    add(`${name} twice`, (genuine, parts) =>
      added(genuine, name, callbackOf(parts).headers.find(([one]) => one === name)?.[1] ?? ''),
    );
  }
  add('another webhook-id', (genuine) => replaced(genuine, 'webhook-id', newId()));
  add('the webhook-id in capitals', (genuine, { id }) =>
    replaced(genuine, 'webhook-id', id.toUpperCase()),
  );
  add('a second later than signed', (genuine, { timestampS }) =>
    replaced(genuine, 'webhook-timestamp', String(timestampS + 1)),
  );
  add('one byte of the body changed', (genuine) => ({
    ...genuine,
    body: genuine.body.replace('pay 10', 'pay 90'),
  }));
  add('a space behind the body', (genuine) => ({ ...genuine, body: `${genuine.body} ` }));
  add('an empty body', (genuine) => ({ ...genuine, body: '' }));
  for (const [kind, timestampS] of [
    ['signed ten minutes ago', nowS() - 600],
    ['signed for ten minutes from now', nowS() + 600],
    ['signed in 1970', 0],
  ] as const) {
    rows.push({ kind, callback: callbackOf(fresh(timestampS)) });
  }
  // A lenient parser reads these as the same time, and may build the signed text from the number.
  for (const [kind, write] of [
    ['a sign', (s: number) => `+${s}`],
    ['a fraction', (s: number) => `${s}.0`],
    ['a space and another number', (s: number) => `${s} 0`],
    ['hexadecimal', (s: number) => `0x${s.toString(16)}`],
    ['an exponent', (s: number) => `${s / 10}e1`],
    ['underscores', (s: number) => String(s).replace(/(?=\d{3}$)/, '_')],
    ['digits of another script', (s: number) => String(s).replace(/\d/g, wideDigit)],
    ['words', () => 'now'],
    ['milliseconds', (s: number) => `${s}000`],
  ] as const) {
    add(`the time with ${kind}`, (genuine, { timestampS }) =>
      replaced(genuine, 'webhook-timestamp', write(timestampS)),
    );
  }
  // The same signed bytes, read as another id and another body.
  const timestampS = nowS();
  const inner = fresh(timestampS);
  const moved = { id: inner.id, timestampS, body: `${timestampS}.${inner.body}` };
  rows.push({
    kind: 'a dot in the webhook-id',
    callback: callbackOf({
      ...inner,
      id: `${inner.id}.${timestampS}`,
      signature: sign(moved),
    }),
  });
  return rows;
}

export function hmacForgeries(secret: string): Forgery[] {
  const rows = commonForgeries((parts) => signHmac(secret, parts));
  const add = (kind: string, forge: (signature: string, parts: Parts) => string): void => {
    const parts = genuineParts(secret);
    rows.push({
      kind,
      callback: callbackOf({ ...parts, signature: forge(parts.signature, parts) }),
    });
  };
  const raw = (key: string | Buffer, text: string): string =>
    `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
  add('a signature by another secret', (_, parts) => signHmac(newSecret(), parts));
  add('an empty signature of the version', () => 'v1,');
  add('a shorter signature', (signature) => signature.slice(0, -2));
  add('a longer signature', (signature) => `${signature}A`);
  add('one bit of the signature changed', (signature) => flipBit(signature));
  add('bits that base64 ignores', (signature) => looseEnd(signature));
  add('base64url', (signature) => signature.replaceAll('+', '-').replaceAll('/', '_'));
  add('no padding', (signature) => signature.replace(/=+$/, ''));
  add(
    'hexadecimal',
    (signature) => `v1,${Buffer.from(signature.slice(3), 'base64').toString('hex')}`,
  );
  add('another version', (signature) => signature.replace('v1', 'v2'));
  add('the version of Ed25519', (signature) => signature.replace('v1', 'v1a'));
  add('the version in capitals', (signature) => signature.replace('v1', 'V1'));
  add('no version', (signature) => signature.slice(3));
  add(
    'a signature behind a second comma',
    (signature) => `v1,${'A'.repeat(43)}=,${signature.slice(3)}`,
  );
  add('signatures separated by commas', (signature) => `v1,${'A'.repeat(43)}=,${signature}`);
  add('a letter that looks like another', (signature) => signature.replace('v', '\u0475'));
  add('the secret as text for a key', (_, parts) => raw(secret, signedText(parts)));
  add('an empty key', (_, parts) => raw('', signedText(parts)));
  add('a hash without a key', () => `v1,${randomBytes(32).toString('base64')}`);
  add('the body signed alone', (_, { body }) =>
    raw(Buffer.from(secret.slice('whsec_'.length), 'base64'), body),
  );
  add('a flood of signatures', (signature) => `${`v1,${'A'.repeat(43)}= `.repeat(50)}${signature}`);
  return rows;
}

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function signedText({ id, timestampS, body }: Parts): string {
  return `${id}.${timestampS}.${body}`;
}

export function flipBit(signature: string): string {
  const [version = '', text = ''] = signature.split(',');
  const bytes = Buffer.from(text, 'base64');
  bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0);
  return `${version},${bytes.toString('base64')}`;
}

/** Decoders ignore some bits of the last letter before the padding: another text yields the same bytes. */
export function looseEnd(signature: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const end = signature.search(/=*$/);
  const next = alphabet[alphabet.indexOf(signature.charAt(end - 1)) + 1] ?? '';
  const loose = signature.slice(0, end - 1) + next + signature.slice(end);
  const decode = (text: string): string =>
    Buffer.from(text.split(',')[1] ?? '', 'base64').toString('hex');
  assert.equal(decode(loose), decode(signature));
  return loose;
}

function wideDigit(digit: string): string {
  return String.fromCodePoint(0xff10 + Number(digit));
}

/** Returns the status and the body of the response. */
export async function send(
  port: number,
  { headers, body }: Callback,
  { method = 'POST', path = '/hook', more = [] as readonly (readonly [string, string])[] } = {},
): Promise<{ status: number; text: string }> {
  const bytes = Buffer.from(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: receiver',
    'Content-Type: application/json',
    'Connection: close',
    ...[...headers, ...more].map(([name, value]) => `${name}: ${value}`),
    ...(more.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
      ? []
      : [`Content-Length: ${bytes.length}`]),
  ];
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined); // The receiver may close it before it has read the whole body.
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]));
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  const answer = Buffer.concat(chunks).toString();
  const [, status = '0'] = /^HTTP\/1\.[01] (\d{3})/.exec(answer) ?? [];
  return { status: Number(status), text: answer.slice(answer.indexOf('\r\n\r\n') + 4) };
}
