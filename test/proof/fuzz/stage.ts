// The service to fuzz: real sockets, a real store, receivers on this machine, and callers with keys of every kind.
// It connects only to loopback, even if a control has broken the guard.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { isObject } from './schema-errors.ts';
import { secretIn } from './leaks.ts';
import type { Caller } from './request.ts';
import { start, type Running } from '../../api/harness.ts';
import { movableWorld } from '../../e2e/movable-world.ts';
import { systemConnector, type Connector } from '../../../src/egress/http/connect.ts';

export interface StageOptions {
  /** Settings that select the store. */
  store: Readonly<Record<string, string>>;
  /** Reports violations outside of responses: in the log and on the network. */
  onViolation: (violation: string) => void;
}

export interface Stage extends AsyncDisposable {
  service: Running;
  /** Its settings. */
  env: Readonly<Record<string, string>>;
  urls: readonly string[];
  callers: readonly Caller[];
  /** The first caller of each app, with all scopes but operator. */
  owners: readonly Caller[];
  nowMs: () => number;
  /** Advances the wall clock, so that subscriptions and keys expire. */
  moveOn: (ms: number) => void;
  /** Stops the service, and starts one on the same store that serves the API but delivers nothing. */
  reopen: () => Promise<Running>;
}

/** Settings for a service that registers what an API answers, instead of offering operations to subscribe. */
export const exchanged = {
  RINGBACK_CONTRACT: join(import.meta.dirname, '..', 'sim', 'jobs.yaml'),
  RINGBACK_OPERATIONS: 'register',
} as const;

const everything = ['subscribe', 'publish', 'read', 'admin'];

export async function openStage({ store, onViolation }: StageOptions): Promise<Stage> {
  await using cleanup = new AsyncDisposableStack();
  const receivers = await openReceivers();
  cleanup.use(receivers);
  const world = movableWorld();
  const options = {
    env: {
      ...store,
      RINGBACK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      RINGBACK_ALLOW_TARGETS: 'loopback',
      RINGBACK_TIMEOUT: '2s',
      RINGBACK_PORTAL_LOGO: join(import.meta.dirname, '..', '..', '..', 'console', 'icon.svg'),
    },
    world,
    hear: hearing(onViolation),
    network: { connector: loopbackOnly(onViolation) },
  };
  let service = await start(options);
  cleanup.defer(async () => service[Symbol.asyncDispose]());
  const operator: Caller = {
    name: 'operator',
    app: service.appId,
    key: service.key,
    scopes: [...everything, 'operator'],
  };
  const [a, b] = [await newApp(service, 'A'), await newApp(service, 'B')];
  const some = ['read', 'publish', 'subscribe'].map(async (scope) => newKey(service, a, [scope]));
  const dead = await newKey(service, a, everything);
  await service.call({ method: 'DELETE', path: `/keys/${dead.key.slice(0, 12)}`, key: a.key });
  const running = cleanup.move();
  return {
    service,
    env: options.env,
    urls: receivers.urls,
    callers: [
      operator,
      a,
      b,
      ...(await Promise.all(some)),
      { ...dead, name: 'revoked', isDead: true },
    ],
    owners: [operator, a, b],
    nowMs: () => world.nowMs(),
    moveOn: (ms) => world.moveOn(ms),
    reopen: async () => {
      await service[Symbol.asyncDispose]();
      service = await start({ ...options, role: 'api' });
      return service;
    },
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

async function newApp(service: Running, name: string): Promise<Caller> {
  const { json } = await service.call({ method: 'POST', path: '/apps', body: { name } });
  return {
    name: `owner of ${name}`,
    app: String(json['id']),
    key: String(json['key']),
    scopes: everything,
  };
}

async function newKey(
  service: Running,
  { app, key }: Caller,
  scopes: readonly string[],
): Promise<Caller> {
  const name = `only ${scopes.join()}`;
  const { json } = await service.call({
    method: 'POST',
    path: '/keys',
    key,
    body: { name, scopes },
  });
  return { name, app, key: String(json['key']), scopes };
}

const errorLevel = /"level":[56]0\b/;
/** Errors of a busy machine, on which the store misses its deadline. */
const busy = /"type":"Store(?:Silent|Unavailable)"/;

function hearing(onViolation: StageOptions['onViolation']): (line: string) => void {
  return (line) => {
    const secret = secretIn(line);
    if (secret !== undefined) onViolation(`I16: the log holds ${secret.slice(0, 9)}…: ${line}`);
    if (errorLevel.test(line) && !busy.test(line)) onViolation(`error: ${line}`);
  };
}

function loopbackOnly(onViolation: StageOptions['onViolation']): Connector {
  const system = systemConnector();
  return {
    connect: async (target) => {
      if (/^127\.|^::1$/.test(target.address)) return system.connect(target);
      onViolation(`I15: would have connected to ${target.address}`);
      throw Object.assign(new Error('not here'), { code: 'ECONNREFUSED' });
    },
  };
}

interface Receivers extends AsyncDisposable {
  urls: readonly string[];
}

/** One server with good and bad receivers, by path. */
async function openReceivers(): Promise<Receivers> {
  const server = createServer((request, response) => {
    request.resume();
    const name = request.url?.split(/[/?]/)[1] ?? '';
    if (name === 'gone') response.writeHead(410).end();
    else if (name === 'fail') response.writeHead(500).end('<h1>no</h1>');
    else if (name === 'moved') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    else if (name === 'odd')
      response.writeHead(299, { 'x-odd': 'ü' }).end(Buffer.from([0xff, 0, 0x80]));
    else if (name === 'cut') request.socket.destroy();
    else response.writeHead(200).end('ok');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = isObject(address) ? Number(address['port']) : 0;
  const good = ['ok', 'ok', 'ok', 'fail', 'odd', 'moved', 'cut', 'gone'];
  return {
    urls: good.map((name) => `http://127.0.0.1:${port}/${name}`),
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
