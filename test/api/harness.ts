// Starts the real service for a test: real sockets, real SQL in memory, a fake resolver.
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { readConfig, type Config, type Environment } from '../../src/config.ts';
import { realWorld, type World } from '../../src/core/base/world.ts';
import type { Resolver } from '../../src/egress/guard/resolve.ts';
import { assertCleanLog, assertNoSecret, keepSettings, learnFrom } from '../canary.ts';
import { startService } from '../../src/service.ts';
import type { ExternalDeps } from '../../src/service/external-deps.ts';
import { openStore } from '../../src/store/open/open.ts';
import { memoryStore } from '../store/migrated-memory.ts';

export interface Running extends AsyncDisposable {
  url: string;
  appId: string;
  /** The first key, which has every scope. */
  key: string;
  call: (call: Call) => Promise<Answer>;
  /** The log so far. */
  logged: () => string;
}

/** A service in this process, with functions that are not available over HTTP. */
export interface Started extends Running {
  /** A link that signs in to the console once. */
  signInLink: () => Promise<string | undefined>;
}

export interface Call {
  method?: string;
  path: string;
  /** `undefined`: the first key, in the header; `null`: none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Bytes and text are sent unchanged, everything else as JSON. */
  body?: unknown;
  /** Aborts the call. */
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** Empty if the response is not a JSON object. */
  json: Record<string, unknown>;
}

export interface StartOptions {
  env?: Environment;
  world?: World;
  /** Name → addresses; other names do not exist. */
  names?: Readonly<Record<string, readonly string[]>>;
  /** Instead of `names`. */
  resolver?: Resolver;
  /** Replaces how callbacks are dialled. */
  network?: ExternalDeps['network'];
  /** Overrides the configuration, which allows only one role on SQLite. */
  role?: Config['role'];
  openStore?: ExternalDeps['openStore'];
  tracer?: ExternalDeps['tracer'];
  /** Receives each log line, which is then not kept: for services that log more than fits in memory. */
  hear?: (line: string) => void;
}

export async function start(options: StartOptions = {}): Promise<Started> {
  const { env = {}, world, names = {}, resolver = fakeResolver(names), network = {} } = options;
  const reading = readConfig({
    RINGBACK_DATA: ':memory:',
    RINGBACK_PORT: '0',
    RINGBACK_STORE_TIMEOUT: process.env['RINGBACK_STORE_TIMEOUT'], // tools/test.ts
    RINGBACK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    RINGBACK_FAST_PATH: process.env['RINGBACK_FAST_PATH'], // test/fast-path-off.test.ts
    ...env,
  });
  if (reading.kind === 'mistakes') throw new Error(reading.mistakes.join('\n'));
  const lines: string[] = [];
  const { hear = (line: string): void => void lines.push(line) } = options;
  const log = pino({ level: 'trace' }, { write: hear });
  const role = options.role ?? reading.config.role;
  const service = await startService(
    { ...reading.config, role },
    {
      world: world ?? realWorld(),
      log,
      resolver,
      network,
      openStore: options.openStore ?? openQuickly,
      tracer: options.tracer,
      onFatal: (error) => {
        throw error;
      },
    },
  );
  keepSettings(env);
  const key = service.firstKey ?? env['RINGBACK_API_KEY'] ?? '';
  return {
    url: service.url,
    appId: `app_${service.defaultApp.id}`,
    key,
    call: async (call) => sendTo(service.url, key, call),
    logged: () => lines.join(''),
    signInLink: async () => service.signInLink(),
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      assertCleanLog('the log', lines.join(''));
    },
  };
}

const openQuickly: typeof openStore = async (options) =>
  'url' in options || options.dataDir !== ':memory:' ? openStore(options) : memoryStore(options);

export function fakeResolver(names: Readonly<Record<string, readonly string[]>>): Resolver {
  return {
    resolve: async (name) => {
      const addresses = names[name];
      return addresses === undefined
        ? { kind: 'missing' }
        : { kind: 'addresses', addresses: [...addresses] };
    },
  };
}

function asItIs(body: unknown): string | Uint8Array<ArrayBuffer> | undefined {
  if (body instanceof Uint8Array) return Uint8Array.from(body);
  return typeof body === 'string' ? body : undefined;
}

/** Calls the service at `base`, with the given key unless the call has its own. */
export async function sendTo(base: string, firstKey: string, call: Call): Promise<Answer> {
  const { method = 'GET', path, key = firstKey, headers = {}, body, signal } = call;
  const raw = asItIs(body);
  const response = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null ? {} : { 'x-api-key': key }),
      ...(body === undefined || raw !== undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ?? JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  const isJson = text !== '' && /json/.test(response.headers.get('content-type') ?? '');
  const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  const answer = { status: response.status, headers: response.headers, text, json };
  if (answer.status >= 400) assertNoSecret(`the answer ${answer.status}`, text);
  else learnFrom({ headers, key, body: raw ?? body }, answer);
  return answer;
}
