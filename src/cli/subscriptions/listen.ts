// `ringback listen`: a receiver in the terminal. It subscribes, prints each callback, checks its
// signature, forwards it if asked to, and unsubscribes when it ends.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request } from 'undici';
import type { Client, SubscribeOptions } from '../../client/client.ts';
import { isWildcard } from '../../core/domain/pattern.ts';
import { limits } from '../../core/limits/limits.ts';
import { createReceiver, ForgeryError, type ForgeryCode } from '../../receiver/receiver.ts';
import type { Invocation } from '../declare/command.ts';
import { json } from '../service/view.ts';
import { explained, withService } from '../service/with-service.ts';
import { calledWrongly, CliFailure } from '../terminal/failure.ts';
import { harmless, harmlessLines, painter } from '../terminal/text.ts';
import { stopSignal, type Terminal } from '../terminal/terminal.ts';

interface Listener {
  client: Client;
  terminal: Terminal;
  isJson: boolean;
  forward: string | undefined;
  /** Aborted when the user ends it. */
  signal: AbortSignal;
  /** Secrets by subscription, each fetched once. */
  secrets: Map<string, Promise<readonly string[]>>;
}

export async function listen(call: Invocation, terminal: Terminal): Promise<void> {
  const signal = stopSignal(terminal);
  const { isJson } = call;
  const forward = readForward(call.text('forward'));
  await withService(call, async ({ client, url: serviceUrl }) => {
    const listener: Listener = { client, terminal, isJson, forward, signal, secrets: new Map() };
    const server = createServer((incoming, answer) => {
      receive(listener, incoming).then(
        (status) => answer.writeHead(status).end(),
        (error: unknown) => {
          if (signal.aborted) return; // Its connection is closed below.
          terminal.err(`Cannot handle a callback: ${String(error)}\n`);
          answer.writeHead(500).end();
        },
      );
    });
    const port = await open(server, call.count('listen-port') ?? portFallback);
    const url = `http://127.0.0.1:${port}/`;
    const event = call.text('event');
    try {
      const wish = readWish(url, event);
      const { subscriberId } = await client.subscribe(wish, { signal }).catch((error: unknown) => {
        throw signal.aborted ? leftEarly(url) : error;
      });
      const what = event === undefined ? 'every event' : `the event ${event}`;
      terminal.out(
        isJson
          ? json({ kind: 'listening', url, subscriberId, event: event ?? null })
          : `Listening on ${url} for ${what} (${subscriberId}). Press Ctrl+C to stop.\n`,
      );
      await terminal.stopped;
      await leave(client, subscriberId).catch((error: unknown) => {
        throw stillThere(explained(error, serviceUrl), subscriberId);
      });
      terminal.out(isJson ? json({ kind: 'unsubscribed', subscriberId }) : 'Unsubscribed.\n');
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
}

const portFallback = 8081;

/**
 * A pattern goes into the subscription's own settings, a name into the call that the contract
 * defines.
 */
function readWish(callbackUrl: string, event: string | undefined): SubscribeOptions {
  if (event === undefined) return { callbackUrl };
  return isWildcard(event)
    ? { callbackUrl, 'x-ringback': { events: [event] } }
    : { callbackUrl, event };
}

/** With a short timeout and no retries, because the user is waiting to leave. */
async function leave(client: Client, subscriberId: string): Promise<void> {
  await client.unsubscribe(subscriberId, { timeoutMs: limits.leaveMs, retries: 0 });
}

function stillThere(error: unknown, subscriberId: string): unknown {
  if (!(error instanceof CliFailure)) return error;
  const { message, code, status } = error;
  const next = `The subscription may still exist. End it:\n  ringback unsubscribe ${subscriberId}`;
  return new CliFailure(`${message}\n${next}`, { cause: error, code, status });
}

function leftEarly(url: string): CliFailure {
  return new CliFailure(
    `Interrupted before the service responded: it may have subscribed ${url}. Check ` +
      `with:\n  ringback subscriptions --target ${url}`,
    { exitCode: 130 },
  );
}

/** Prints a callback and returns the status to answer it with. */
async function receive(listener: Listener, incoming: IncomingMessage): Promise<number> {
  const body = await readBody(incoming);
  const { terminal, isJson } = listener;
  const signature = await checkSignature(listener, incoming, body);
  const forwarded = await passOn(listener, incoming, body);
  const header = (name: string): string | undefined => incoming.headersDistinct[name]?.join(', ');
  const received: ReceivedCallback = {
    at: new Date(terminal.world.nowMs()).toISOString(),
    event: readableName(header('ringback-event')),
    id: header('webhook-id'),
    subscription: header('ringback-subscription'),
    delivery: header('ringback-delivery'),
    attempt: header('ringback-attempt'),
    signature,
    forwarded,
    body: body.toString(),
  };
  terminal.out(isJson ? json(forPrograms(received)) : showCallback(received, terminal));
  return forwarded ?? 200;
}

/** Decoded; as it is if another sender did not encode it. */
function readableName(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch {
    return name;
  }
}

function forPrograms(received: ReceivedCallback): object {
  const { signature, attempt, ...rest } = received;
  const absent = { event: null, id: null, subscription: null, delivery: null, forwarded: null };
  const given = Object.entries(rest).filter(([, value]) => value !== undefined);
  return {
    kind: 'callback',
    ...absent,
    ...Object.fromEntries(given),
    attempt: attempt === undefined ? null : Number(attempt),
    signature: signature.kind,
    why: signature.kind === 'wrong' ? signature.why : null,
  };
}

async function checkSignature(
  listener: Listener,
  { headers }: IncomingMessage,
  body: Uint8Array,
): Promise<Signature> {
  const subscription = String(headers['ringback-subscription'] ?? '');
  if (!/^sub_[0-9a-z]{26}$/.test(subscription)) return { kind: 'foreign' };
  const now = (): number => listener.terminal.world.nowMs();
  const verify = async (): Promise<Signature> => {
    const secret = await secretsOf(listener, subscription);
    if (secret.length === 0) return { kind: 'wrong', why: 'signature_wrong' };
    try {
      await createReceiver({ secret, now }).verify({ headers, body });
      return { kind: 'ok' };
    } catch (error) {
      if (error instanceof ForgeryError) return { kind: 'wrong', why: error.code };
      throw error;
    }
  };
  const first = await verify();
  if (first.kind === 'ok') return first;
  listener.secrets.delete(subscription); // It may have been rotated: fetch it again.
  return verify();
}

/** Fetched once and cached. Empty: the subscription does not belong to this app. */
async function secretsOf(
  { client, secrets, signal }: Listener,
  subscription: string,
): Promise<readonly string[]> {
  const known =
    secrets.get(subscription) ??
    client.subscriptions.secret(subscription, { signal }).then(
      ({ secret, previous }) => [secret, ...(previous === undefined ? [] : [previous.secret])],
      () => [],
    );
  secrets.set(subscription, known);
  return known;
}

/** The status of the --forward target, or 502 if it cannot be reached. */
async function passOn(
  { forward, terminal, signal }: Listener,
  { method, headers }: IncomingMessage,
  body: Buffer,
): Promise<number | undefined> {
  if (forward === undefined) return undefined;
  const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
  try {
    const answer = await request(forward, {
      method: method ?? 'POST',
      headers: kept,
      body,
      signal,
    });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
    signal.throwIfAborted();
    terminal.err(`Cannot forward to ${forward}: ${error instanceof Error ? error.message : ''}\n`);
    return 502;
  }
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    const part = Buffer.from(chunk);
    bytes += part.length;
    if (bytes > limits.bodyBytesMax) throw new RangeError('the callback is larger than 1 MiB');
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

async function open(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new CliFailure(`Cannot listen: ${error.message}`)));
    server.listen(port, '127.0.0.1', () => resolve());
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function readForward(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href;
  throw calledWrongly(`Cannot forward to "${text}": expected an http or https URL`);
}

// Shows a received callback to people. Its content may be hostile: nothing in it may control the
// terminal, and the body is indented, so that it cannot imitate a line of ours.

type Signature =
  | { kind: 'ok' }
  | { kind: 'wrong'; why: ForgeryCode }
  /** It names no subscription of Ringback. */
  | { kind: 'foreign' };

interface ReceivedCallback {
  /** When it was received. */
  at: string;
  event: string | undefined;
  id: string | undefined;
  subscription: string | undefined;
  delivery: string | undefined;
  attempt: string | undefined;
  signature: Signature;
  /** The answer of the --forward target; undefined without one. */
  forwarded: number | undefined;
  body: string;
}

function showCallback(received: ReceivedCallback, terminal: Pick<Terminal, 'isScreen'>): string {
  const paint = painter(terminal);
  const { at, event = '', id = '', attempt = '', signature, forwarded, body } = received;
  const sign = paint(signature.kind === 'ok' ? 'green' : 'red', signatureText(signature));
  const again = attempt === '1' ? '' : paint('yellow', ` attempt ${harmless(attempt)}`);
  const answered = forwarded === undefined || forwarded < 300 ? 'green' : 'red';
  const behind = forwarded === undefined ? '' : `  forwarded: ${paint(answered, `${forwarded}`)}`;
  const clock = paint('dim', at.slice(11, 19));
  const head = `${clock}  ${paint('bold', harmless(event))}  ${harmless(id)}  ${sign}${again}${behind}`;
  const lines = harmlessLines(body).split('\n');
  return [head, ...lines.map((line) => `  ${line}`), ''].join('\n');
}

function signatureText(signature: Signature): string {
  if (signature.kind === 'ok') return 'signature ok';
  if (signature.kind === 'foreign') return 'not from Ringback';
  const why = signature.why === 'signature_wrong' ? '' : ` (${signature.why})`;
  return `SIGNATURE INVALID${why}`;
}
