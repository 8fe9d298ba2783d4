// `ringback listen`: a receiver in the terminal. It subscribes, prints each callback as it comes, checks
// its signature, passes it on if asked to, and unsubscribes when it ends.
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { request } from 'undici';
import { limits } from '../core/limits.ts';
import { isSignedBy } from '../egress/sign.ts';
import { createClient, type Client } from './client.ts';
import type { Invocation } from './command.ts';
import { readConnection } from './connect.ts';
import { CliFailure } from './failure.ts';
import type { Terminal } from './terminal.ts';

const portFallback = 8081;

interface Receiver {
  client: Client;
  terminal: Terminal;
  forward: string | undefined;
  /** Secrets by subscription, fetched once each. */
  secrets: Map<string, Promise<string[]>>;
}

export async function listen(call: Invocation, terminal: Terminal): Promise<void> {
  const { stopped } = terminal;
  const receiver: Receiver = {
    client: createClient(readConnection(call)),
    terminal,
    forward: call.text('forward'),
    secrets: new Map(),
  };
  const server = createServer((incoming, answer) => {
    receive(receiver, incoming).then(
      (status) => answer.writeHead(status).end(),
      (error: unknown) => {
        terminal.err(`Cannot take a callback: ${String(error)}\n`);
        answer.writeHead(500).end();
      },
    );
  });
  const port = await open(server, call.count('listen-port') ?? portFallback);
  const event = call.text('event');
  const callbackUrl = `http://127.0.0.1:${port}/`;
  try {
    const { subscriberId } = await receiver.client.call(subscribeCall(callbackUrl, event));
    const what = event === undefined ? 'every event' : `the event ${event}`;
    terminal.out(
      `Listening on ${callbackUrl} for ${what} (${String(subscriberId)}). Ctrl+C ends it.\n`,
    );
    await stopped;
    await receiver.client.call({ method: 'POST', path: `/unsubscribe?Id=${String(subscriberId)}` });
    terminal.out('Unsubscribed.\n');
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function subscribeCall(
  callbackUrl: string,
  event: string | undefined,
): Parameters<Client['call']>[0] {
  if (event === undefined) return { method: 'POST', path: '/subscribe', body: { callbackUrl } };
  const query = new URLSearchParams({ callbackUrl, event });
  return { method: 'POST', path: `/subscribe?${query.toString()}` };
}

/** Prints one callback and says with which status it is answered. */
async function receive(receiver: Receiver, incoming: IncomingMessage): Promise<number> {
  const body = await readBody(incoming);
  const { out, world } = receiver.terminal;
  const header = (name: string): string => String(incoming.headers[name] ?? '');
  const signature = await checkSignature(receiver, header, body);
  const forwarded = await passOn(receiver, incoming, body);
  const clock = new Date(world.nowMs()).toISOString().slice(11, 19);
  const attempt =
    header('ringback-attempt') === '1' ? '' : ` attempt ${header('ringback-attempt')}`;
  out(`${clock}  ${header('ringback-event')}  ${header('webhook-id')}  ${signature}${attempt}`);
  out(forwarded === undefined ? '\n' : `  forwarded: ${forwarded}\n`);
  out(`  ${body.toString()}\n`);
  return forwarded ?? 200;
}

async function checkSignature(
  receiver: Receiver,
  header: (name: string) => string,
  payload: Uint8Array,
): Promise<string> {
  const subscription = header('ringback-subscription');
  if (!/^sub_[0-9a-z]{26}$/.test(subscription)) return 'not from Ringback';
  const id = header('webhook-id');
  const timestampS = Number(header('webhook-timestamp'));
  const isTime = Number.isSafeInteger(timestampS) && timestampS >= 0;
  if (!/^evt_[0-9a-z]{26}$/.test(id) || !isTime) return 'SIGNATURE WRONG';
  const isSigned = (verifier: string): boolean =>
    isSignedBy(verifier, header('webhook-signature'), { id, timestampS, payload });
  if ((await secretsOf(receiver, subscription)).some(isSigned)) return 'signature ok';
  receiver.secrets.delete(subscription); // It may have been replaced: ask once more.
  return (await secretsOf(receiver, subscription)).some(isSigned)
    ? 'signature ok'
    : 'SIGNATURE WRONG';
}

/** Fetched once, and remembered. */
async function secretsOf({ client, secrets }: Receiver, subscription: string): Promise<string[]> {
  const known =
    secrets.get(subscription) ??
    client.call({ method: 'GET', path: `/subscriptions/${subscription}/secret` }).then(
      ({ secret }) => [String(secret)],
      () => [],
    );
  secrets.set(subscription, known);
  return known;
}

/** The status of the receiver behind, or 502 when it cannot be reached. */
async function passOn(
  { forward, terminal }: Receiver,
  { method, headers }: IncomingMessage,
  body: Buffer,
): Promise<number | undefined> {
  if (forward === undefined) return undefined;
  const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
  try {
    const answer = await request(forward, { method: method ?? 'POST', headers: kept, body });
    await answer.body.dump();
    return answer.statusCode;
  } catch (error) {
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
