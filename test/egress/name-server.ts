// A scripted name server on loopback, over UDP and, for answers that are too long for it, over TCP. No test uses a
// real one. It encodes its packets itself, because the product's parsing of addresses is tested with it.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface Question {
  name: string;
  family: 4 | 6;
}

export type NameAnswer =
  | { kind: 'records'; records: readonly NameRecord[]; ttlS?: number }
  /** 2: SERVFAIL; 3: NXDOMAIN. */
  | { kind: 'code'; code: number }
  | { kind: 'silent' }
  /** Half a packet. */
  | { kind: 'broken' };

/** A record of the queried name, unless another owner is given. */
export type NameRecord =
  | { owner?: string; address: string }
  | { owner?: string; /** CNAME */ alias: string };

export interface NameServer extends AsyncDisposable {
  /** Host and port, such as `127.0.0.1:5353`. */
  at: string;
}

export interface NameServerOptions {
  host?: string;
  port?: number;
}

type Answering = (question: Question) => NameAnswer;

/** A port that is free for one protocol may be taken for the other; then another port is tried. */
const portsTriedMax = 50;

export async function startNameServer(
  answer: Answering,
  { host = '127.0.0.1', port = 0 }: NameServerOptions = {},
): Promise<NameServer> {
  for (let tried = 1; ; tried += 1) {
    const tcp = await listenTcp(answer, { host, port });
    try {
      const udp = await listenUdp(answer, { host, port: tcp.port });
      return {
        at: host.includes(':') ? `[${host}]:${tcp.port}` : `${host}:${tcp.port}`,
        [Symbol.asyncDispose]: async () => {
          await udp[Symbol.asyncDispose]();
          await tcp[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      await tcp[Symbol.asyncDispose]();
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
      if (!isTaken || port !== 0 || tried === portsTriedMax) throw error;
    }
  }
}

async function listenUdp(
  answer: Answering,
  { host, port }: Required<NameServerOptions>,
): Promise<AsyncDisposable> {
  const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  udp.on('message', (query, from) => {
    const whole = packet(query, answer);
    if (whole !== undefined) udp.send(fitted(whole), from.port, from.address);
  });
  udp.bind(port, host);
  await once(udp, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      const closed = once(udp, 'close');
      udp.close();
      await closed;
    },
  };
}

async function listenTcp(
  answer: Answering,
  { host, port }: Required<NameServerOptions>,
): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    // A query is small, so it arrives in one piece, after its length.
    socket.on('data', (data: Buffer) => {
      const whole = packet(data.subarray(2), answer);
      if (whole !== undefined) socket.write(Buffer.concat([number16(whole.length), whole]));
    });
  });
  tcp.listen(port, host);
  await once(tcp, 'listening');
  const at = tcp.address();
  assert(typeof at === 'object' && at !== null);
  return {
    port: at.port,
    [Symbol.asyncDispose]: async () => {
      const closed = once(tcp, 'close');
      tcp.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export function addresses(...texts: string[]): NameAnswer {
  return { kind: 'records', records: texts.map((address) => ({ address })) };
}

/** The maximum length of an answer over UDP that is not truncated. */
const udpBytesMax = 1_232;
const headBytes = 12;
const typeOf = { 4: 1, 6: 28 } as const;

function packet(query: Buffer, answer: Answering): Buffer | undefined {
  const labels: string[] = [];
  let at = headBytes;
  while (query.readUInt8(at) > 0) {
    const length = query.readUInt8(at);
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  const family = query.readUInt16BE(at + 1) === 1 ? 4 : 6;
  const given = answer({ name: labels.join('.').toLowerCase(), family });
  if (given.kind === 'silent') return undefined;
  const records = given.kind === 'records' ? given.records : [];
  const ttlS = given.kind === 'records' ? (given.ttlS ?? 60) : 0;
  // Addresses of the other family do not answer this question.
  const fitting = records.filter(
    (one) => 'alias' in one || one.address.includes(':') === (family === 6),
  );
  const head = Buffer.from(query.subarray(0, headBytes));
  head.writeUInt16BE(0x8180 | (given.kind === 'code' ? given.code : 0), 2);
  head.writeUInt16BE(fitting.length, 6);
  head.writeUInt32BE(0, 8);
  const rows = fitting.map((one) => row(one, { family, ttlS }));
  const whole = Buffer.concat([head, query.subarray(headBytes, at + 5), ...rows]);
  return given.kind === 'broken' ? whole.subarray(0, at) : whole;
}

/** Truncates an answer that is too long, so that the client repeats the query over TCP. */
function fitted(whole: Buffer): Buffer {
  if (whole.length <= udpBytesMax) return whole;
  const cut = Buffer.from(whole.subarray(0, questionEnd(whole)));
  cut.writeUInt16BE(cut.readUInt16BE(2) | 0x0200, 2);
  cut.writeUInt16BE(0, 6);
  return cut;
}

function questionEnd(whole: Buffer): number {
  let at = headBytes;
  while (whole.readUInt8(at) > 0) at += whole.readUInt8(at) + 1;
  return at + 5;
}

function row(one: NameRecord, { family, ttlS }: { family: 4 | 6; ttlS: number }): Buffer {
  const owner = one.owner === undefined ? Buffer.from([0xc0, headBytes]) : nameBytes(one.owner);
  const data = 'alias' in one ? nameBytes(one.alias) : addressBytes(one.address);
  const type = 'alias' in one ? 5 : typeOf[family];
  const ttl = Buffer.alloc(4);
  ttl.writeUInt32BE(ttlS);
  return Buffer.concat([owner, number16(type), number16(1), ttl, number16(data.length), data]);
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(label, 'ascii'));
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), label]),
    Buffer.from([0]),
  ]);
}

export function addressBytes(text: string): Buffer {
  if (!text.includes(':')) return Buffer.from(text.split('.').map(Number));
  // The URL parser converts dotted parts to groups, so that only `::` must be expanded.
  const plain = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  const [left = '', right] = plain.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [head, tail] = [groups(left), groups(right ?? '')];
  const gap = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  const bytes = Buffer.from(
    [...head, ...gap, ...tail].map((group) => group.padStart(4, '0')).join(''),
    'hex',
  );
  assert.equal(bytes.length, 16, text);
  return bytes;
}

function number16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}
