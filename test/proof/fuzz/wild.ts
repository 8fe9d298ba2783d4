// Turns a valid request into a wild one, with changes that the document does not describe.
import type { Chance } from '../sim/chance.ts';
import {
  asJson,
  bytesOf,
  encode,
  isDeep,
  targetOf,
  type FuzzRequest,
  type Pair,
} from './request.ts';
import { drawJson, drawText, drawWildText } from './texts.ts';
import { methods, mediaTypes, oddHeaders, rawQueries, oddJson } from './unusual-values.ts';

export function makeWild(good: FuzzRequest, chance: Chance): FuzzRequest {
  let request = good;
  const rules: string[] = [];
  for (let i = chance.pick([1, 1, 1, 2, 3]); i > 0; i -= 1) {
    const [rule, change] = chance.pick(changes);
    request = change(request, chance);
    rules.push(rule);
    if (request.raw !== undefined) break;
  }
  return { ...request, intent: 'wild', rule: rules.join(', ') };
}

type Change = (request: FuzzRequest, chance: Chance) => FuzzRequest;

const changes: readonly [string, Change][] = [
  ['another method', (it, chance) => ({ ...it, method: chance.pick(methods) })],
  ['another media type', (it, chance) => set(it, ['Content-Type', chance.pick(mediaTypes)])],
  [
    'an encoding',
    (it, chance) => set(it, ['Content-Encoding', chance.pick(['gzip', 'br', 'identity', 'x', ''])]),
  ],
  ['odd headers', (it, chance) => ({ ...it, headers: [...it.headers, chance.pick(oddHeaders)] })],
  [
    'a header twice',
    (it, chance) => ({
      ...it,
      headers: it.headers.length === 0 ? it.headers : [...it.headers, chance.pick(it.headers)],
    }),
  ],
  ['polluted query', pollute],
  ['raw query', (it, chance) => ({ ...it, rawQuery: chance.pick(rawQueries) })],
  ['odd path', oddPath],
  [
    'odd id',
    (it, chance) => ({
      ...it,
      path: it.path.replace(/(?<=^\/[^/]+\/)[^/]+/, encode(drawWildText(chance, 1, 200))),
    }),
  ],
  [
    'another cursor',
    (it, chance) => ({
      ...it,
      query: [...it.query.filter(([name]) => name !== 'cursor'), ['cursor', oddCursor(it, chance)]],
    }),
  ],
  [
    'bytes for a body',
    (it, chance) => ({ ...it, body: Buffer.from(chance.bytes(chance.whole(1, 200))) }),
  ],
  ['a changed body', changeBody],
  ['a changed value', changeValue],
  ['odd JSON', (it, chance) => json(it, chance.pick(oddJson))],
  ['any JSON', (it, chance) => json(it, JSON.stringify(drawJson(chance)))],
  ['another key', (it, chance) => set(it, ['X-API-Key', oddKey(it, chance)])],
  [
    'an odd session',
    (it, chance) => ({
      ...it,
      headers: [...it.headers, ['Cookie', `ringback_session=${encode(drawText(chance, 0, 40))}`]],
    }),
  ],
  ['raw bytes', rawBytes],
];

function set(request: FuzzRequest, [name, value]: Pair): FuzzRequest {
  const rest = request.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase());
  return { ...request, headers: [...rest, [name, value]] };
}

function json(request: FuzzRequest, text: string): FuzzRequest {
  return set({ ...request, body: Buffer.from(text) }, ['Content-Type', 'application/json']);
}

function pollute(request: FuzzRequest, chance: Chance): FuzzRequest {
  const known = request.operation.parameters
    .filter((one) => one.in === 'query')
    .map(({ name }) => name);
  const name = chance.pick([...known, 'limit', 'x', 'callbackUrl', '__proto__', 'toString']);
  const pairs: Pair[] = Array.from({ length: chance.pick([1, 2, 40]) }, () => [
    chance.pick([name, `${name}[]`, `${name}[a]`, name.toUpperCase(), ` ${name}`]),
    drawWildText(chance, 0, 30),
  ]);
  return { ...request, query: [...request.query, ...pairs] };
}

function oddPath(request: FuzzRequest, chance: Chance): FuzzRequest {
  const { path } = request;
  const odd = chance.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    `${path}/..`,
    `/%2e%2e${path}`,
    path.replace('/', '/%2f'),
    `${path}%00`,
    `${path}%ff`,
    `${path}%zz`,
    `${path};a=b`,
    `${path}#x`,
    `http://evil.example${path}`,
    `${path}/${'x'.repeat(5_000)}`,
    '*',
    '/',
    '//',
    path.replaceAll(/[a-z]/g, (char) => `%${char.charCodeAt(0).toString(16)}`),
  ]);
  return { ...request, path: odd };
}

/** A cursor of another list, truncated, reversed or made up. */
function oddCursor({ query }: FuzzRequest, chance: Chance): string {
  const own = query.find(([name]) => name === 'cursor')?.[1] ?? 'MTIz';
  return chance.pick([
    own.slice(1),
    own.slice(0, -1),
    Array.from(own).reverse().join(''),
    `${own}A`,
    own.replace(/./, 'z'),
    Buffer.from(`[${chance.whole(-9, 9)},"${drawText(chance, 0, 6)}"]`).toString('base64url'),
    Buffer.from(chance.bytes(chance.whole(1, 40))).toString('base64url'),
    '0',
    '-1',
    '9'.repeat(30),
    `sub_${'0'.repeat(26)}`,
    '0'.repeat(26),
    'z'.repeat(26),
    '7'.repeat(26),
    `${'0'.repeat(26)}_0`,
    drawWildText(chance, 1, 256),
  ]);
}

function changeBody(request: FuzzRequest, chance: Chance): FuzzRequest {
  const { body } = request;
  if (body === undefined || body.length === 0) return request;
  const bytes = Uint8Array.from(body);
  for (let i = chance.whole(1, 3); i > 0; i -= 1) {
    bytes[chance.whole(0, bytes.length - 1)] = chance.whole(0, 255);
  }
  const cut = chance.isLucky(0.2) ? bytes.subarray(0, chance.whole(0, bytes.length)) : bytes;
  return { ...request, body: cut };
}

/** Replaces one value of the body, at any depth. */
function changeValue(request: FuzzRequest, chance: Chance): FuzzRequest {
  const value = isDeep(request.body) ? undefined : asJson(request.body);
  if (value === undefined) return request;
  let left = chance.whole(0, 8);
  const text = JSON.stringify(value, (_name, member: unknown) => {
    left -= 1;
    return left === 0 ? drawJson(chance) : member;
  });
  return { ...request, body: Buffer.from(text) };
}

function oddKey({ caller }: FuzzRequest, chance: Chance): string {
  const key = caller?.key ?? 'x';
  return chance.pick([
    `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    key.slice(0, -1),
    `${key} ${key}`,
    key.toLowerCase(),
    `rbk_${'0'.repeat(57)}`,
    'Bearer x',
    "' or 1=1 --",
    '\xff\xff',
    'x'.repeat(4_000),
    '',
  ]);
}

/** Bytes that no HTTP library would send. */
function rawBytes(request: FuzzRequest, chance: Chance): FuzzRequest {
  const whole = Buffer.from(bytesOf(request, 'localhost'));
  const text = whole.toString('latin1');
  const target = targetOf(request);
  const raw = chance.pick([
    () => text.slice(0, chance.whole(0, text.length)),
    () => text.replace('HTTP/1.1', chance.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', 'http/1.1', ''])),
    () => text.replaceAll('\r\n', '\n'),
    () => text.replace('Host', 'Host: a\r\nHost'),
    () => text.replace(/Host: .*\r\n/, ''),
    () => text.replace('\r\n', `\r\nX-Long: ${'x'.repeat(20_000)}\r\n`),
    () => text.replace('\r\n', '\r\nTransfer-Encoding: chunked\r\n'),
    () => text.replace('\r\n', '\r\nContent-Length: 1\r\n'),
    () => text.replace('\r\n', '\r\nContent-Length: -1\r\n'),
    () => text.replace('\r\n', '\r\nX: a\x00b\r\n'),
    () => text.replace('\r\n', '\r\nX : y\r\n folded\r\n'),
    () => text.replace(/^\w+/, (method) => method.toLowerCase()),
    () => text.replace(/^\w+/, drawText(chance, 1, 30)),
    () => text.replace(target, `${target} ${target}`),
    () => text.replace(target, `/${'x'.repeat(17_000)}`),
    () => `POST ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    () =>
      `POST ${target} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n`,
    () => Buffer.from(chance.bytes(chance.whole(1, 300))).toString('latin1'),
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => `${text}${text}`,
  ])();
  return { ...request, raw: Buffer.from(raw, 'latin1') };
}
