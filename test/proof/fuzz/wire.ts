// Sends bytes over a kept-alive socket and reads one response, without an HTTP client that would repair, refuse or
// repeat anything.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface WireAnswer {
  status: number;
  /** Lower-case names, in order, repetitions included. */
  headers: readonly (readonly [string, string])[];
  header: (name: string) => string | undefined;
  body: Buffer;
}

export interface Wire extends Disposable {
  host: string;
  /** Undefined if the connection ended without a response. */
  send: (bytes: Uint8Array, options: SendOptions) => Promise<WireAnswer | undefined>;
}

export interface SendOptions {
  method: string;
  /** Uses a new connection. */
  isAlone: boolean;
  /** The bytes may be an incomplete request, so the client ends the connection after them. */
  isRaw: boolean;
}

/** Node sends no response if the client ends the connection at once, so wait a moment. */
const rawMs = 60;

/** Safety timeout: counts as no response. */
const patienceMs = 60_000;

export function openWire(base: string): Wire {
  const { hostname, port, host } = new URL(base);
  let kept: Socket | undefined;
  const dial = async (): Promise<Socket> => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return socket;
  };
  const send: Wire['send'] = async (bytes, { method, isAlone, isRaw }) => {
    const isUsable = kept !== undefined && !kept.destroyed && kept.readable && kept.writable;
    if (!isAlone && !isUsable) kept = await dial();
    const socket = isAlone || kept === undefined ? await dial() : kept;
    const reading = readAnswer(socket, method);
    socket.write(bytes);
    const ending = isRaw ? setTimeout(() => socket.end(), rawMs) : undefined;
    const answer = await reading;
    clearTimeout(ending);
    const isOver =
      isAlone ||
      answer === undefined ||
      answer.header('connection') === 'close' ||
      isStream(answer);
    if (isOver) socket.destroy();
    return answer;
  };
  return { host, send, [Symbol.dispose]: () => kept?.destroy() };
}

async function readAnswer(socket: Socket, method: string): Promise<WireAnswer | undefined> {
  const { promise, resolve } = Promise.withResolvers<WireAnswer | undefined>();
  let got: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    got = got.length === 0 ? chunk : Buffer.concat([got, chunk]);
    const answer = parse(got, method);
    if (answer !== undefined) resolve(answer);
  };
  const end = (): void => resolve(undefined);
  const net = setTimeout(end, patienceMs);
  socket.on('data', take).on('close', end).on('end', end);
  const answer = await promise;
  clearTimeout(net);
  socket.off('data', take).off('close', end).off('end', end);
  return answer;
}

/** The first response other than 1xx; undefined while it is incomplete. */
function parse(bytes: Buffer, method: string): WireAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const rest = bytes.subarray(end + 4);
  if (status < 200) return parse(rest, method);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const header = (name: string): string | undefined => headers.find(([each]) => each === name)?.[1];
  const body = bodyOf(rest, { method, status, header });
  return body && { status, headers, header, body };
}

function bodyOf(
  rest: Buffer,
  { method, status, header }: { method: string; status: number } & Pick<WireAnswer, 'header'>,
): Buffer | undefined {
  if (method === 'HEAD' || status === 204 || status === 304) return Buffer.alloc(0);
  if (isStream({ header })) return rest.length === 0 ? undefined : rest;
  if (header('transfer-encoding') === 'chunked') return unchunk(rest);
  const length = Number(header('content-length') ?? 0);
  return rest.length < length ? undefined : rest.subarray(0, length);
}

/** An event stream never ends: its first bytes are enough. */
function isStream({ header }: Pick<WireAnswer, 'header'>): boolean {
  return /event-stream/.test(header('content-type') ?? '');
}

function unchunk(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    if (bytes.length < line + 2 + size + 2) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}
