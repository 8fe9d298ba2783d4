// Tells Ringback about exchanges, and decides what the caller gets if that fails.
import { createClient, RingbackError, type Client, type ClientOptions } from '../client/client.ts';
import { readBytes, type Answer, type Sent, type Unheld } from './held-answer.ts';

export interface MiddlewareOptions extends Pick<ClientOptions, 'url' | 'key' | 'appId'> {
  /** The operations with callbacks, with their whole paths: `POST /jobs`, `PUT /jobs/{jobId}/hook`. */
  operations: readonly string[];
  /**
   * What the caller gets if Ringback does not answer. `pass`: the answer of the handler, with the header
   * `Ringback-Warning`. `refuse`: 503 instead of it, although the handler has done its work. Default: `pass`.
   */
  whenDown?: 'pass' | 'refuse' | undefined;
  /** How long an answer waits for Ringback, in milliseconds. Default: 5 seconds. */
  timeoutMs?: number | undefined;
  /** A larger answer is not held, and its callbacks are not registered. Default: 256 KiB. */
  bodyBytesMax?: number | undefined;
  /**
   * Called if callbacks could not be registered. `client.exchanges.register(exchange)` does it later. There is no
   * exchange if the answer could not be held or read. Default: a line on the console.
   */
  onError?: ((error: Error, exchange: Exchange | undefined) => void) | undefined;
}

/** What `client.exchanges.register()` takes. */
export type Exchange = Parameters<Client['exchanges']['register']>[0];

export interface Asked {
  method: string;
  /** As the caller spelled it, without the query. */
  path: string;
  /** Absolute. */
  url: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Bytes, text, or what a parser made of them. */
  body: unknown;
}

export interface Registrar {
  bodyBytesMax: number;
  timeoutMs: number;
  /** Whether an answer to this request may register callbacks. */
  isMeant: (method: string, path: string) => boolean;
  /** Never rejects. */
  register: (asked: Asked, answer: Answer) => Promise<Sent>;
  /** For an answer that cannot be registered. */
  unheld: (asked: Pick<Asked, 'method' | 'path'>, why: Unheld) => Sent;
}

export function createRegistrar(options: MiddlewareOptions): Registrar {
  const { url, key, appId, timeoutMs = 5_000, bodyBytesMax = 262_144 } = options;
  const { operations, whenDown = 'pass', onError = logError } = options;
  const client = createClient({ url, key, appId, timeoutMs, retries: 2 });
  const meant = operations.map(readOperation);
  const fail = ({ method, path }: Pick<Asked, 'method' | 'path'>, failure: Failure): Sent => {
    const { cause, exchange } = failure;
    const { message } = cause instanceof Error ? cause : new Error(String(cause));
    const action = `register the callbacks of ${method} ${path}`;
    const error = new Error(`Cannot ${action}: ${message}`, { cause });
    try {
      onError(error, exchange);
    } catch (thrown) {
      console.error('onError of ringback/middleware has thrown:', thrown);
    }
    return exchange !== undefined && whenDown === 'refuse' && isDown(cause) ? refused : warned;
  };
  return {
    bodyBytesMax,
    timeoutMs,
    isMeant: (method, path) => meant.some((one) => one.method === method && one.path.test(path)),
    register: async (asked, answer) => {
      let exchange: Exchange | undefined;
      try {
        exchange = await exchangeOf(asked, answer, bodyBytesMax);
        const result = await client.exchanges.register(exchange, {
          signal: AbortSignal.timeout(timeoutMs),
          idempotencyKey: await idempotencyKeyOf(asked, exchange),
        });
        if (!result.registered) return { kind: 'answer' };
        if (result.warning !== undefined)
          fail(asked, { cause: result.warning, exchange: undefined });
        return { kind: 'answer', header: ['ringback-subscription', result.subscription.id] };
      } catch (cause) {
        // The key names what decides, so an earlier request has registered the same.
        const isKnown = cause instanceof RingbackError && cause.code === 'idempotency_mismatch';
        if (isKnown) return { kind: 'answer' };
        return fail(asked, { cause, exchange });
      }
    },
    unheld: (asked, why) => {
      const details = {
        large: `a body is larger than ${bodyBytesMax} bytes`,
        slow: `the answer took longer than ${timeoutMs} ms from its first byte to its end`,
        broken: 'a body broke off',
      };
      return fail(asked, { cause: new Error(details[why]), exchange: undefined });
    },
  };
}

interface Failure {
  cause: unknown;
  exchange: Exchange | undefined;
}

const warned: Sent = { kind: 'answer', header: ['ringback-warning', 'callbacks not registered'] };

const refused: Sent = {
  kind: 'instead',
  status: 503,
  contentType: 'application/problem+json',
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Callbacks not registered',
    status: 503,
    detail: 'The request was carried out, but its callbacks could not be registered.',
  }),
};

function logError(error: Error): void {
  console.warn(error.message);
}

/** Ringback has refused nothing, so the same exchange may be registered later. */
function isDown(cause: unknown): boolean {
  return !(cause instanceof RingbackError) || cause.status >= 500 || cause.status === 429;
}

/** `POST /jobs/{jobId}`, as a method and a pattern of paths. */
function readOperation(text: string): { method: string; path: RegExp } {
  const [, method = '', path = ''] = /^([A-Z]+) (\/[^\s?#]*)$/.exec(text) ?? [];
  if (method === '') {
    throw new TypeError(
      `Cannot use "${text}" as an operation: expected a method and a path, such as "POST /jobs"`,
    );
  }
  const literals = path.replace(/\/$/, '').split(/\{[^{}]+\}/);
  const pattern = literals.map((one) => one.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return { method, path: new RegExp(`^${pattern.join('[^/]+')}/?$`) };
}

/** Credentials stay here. */
const secretHeaders = /^(authorization|proxy-authorization|cookie|set-cookie)$/;

async function exchangeOf(asked: Asked, answer: Answer, bytesMax: number): Promise<Exchange> {
  const { method, url } = asked;
  const headers = withoutSecrets(asked.headers);
  const { status } = answer;
  const body = await decode(answer, bytesMax);
  return {
    request: { method, url, headers, body: await valueOf(asked.body, headers) },
    response: {
      status,
      headers: withoutSecrets(answer.headers),
      body: await valueOf(body, answer.headers),
    },
  };
}

function withoutSecrets(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !secretHeaders.test(name)));
}

/** As `DecompressionStream` calls them. */
const formats: ReadonlyMap<string, string> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'brotli'],
]);

/** Of Node only: web standards have no zstd, which `@fastify/compress` prefers. */
const zlib = globalThis.process?.getBuiltinModule?.('node:zlib');

async function decode({ headers, body }: Answer, bytesMax: number): Promise<Uint8Array> {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity' || body.length === 0) return body;
  const format = formats.get(encoding);
  const undecoded = `the answer is not ${encoding}, or decodes to more than ${bytesMax} bytes`;
  if (encoding === 'zstd' && zlib?.zstdDecompress !== undefined) {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    zlib.zstdDecompress(body, { maxOutputLength: bytesMax }, (cause, bytes) =>
      cause === null ? resolve(bytes) : reject(new Error(undecoded, { cause })),
    );
    return promise;
  }
  if (format === undefined) throw new Error(`the answer has the content encoding "${encoding}"`);
  const stream = new Blob([Uint8Array.from(body)]).stream();
  // Types of browsers do not know brotli yet.
  const decoder: DecompressionStream = Reflect.construct(DecompressionStream, [format]);
  const decoded = stream.pipeThrough(decoder);
  const bytes = await readBytes(decoded, { bytesMax });
  if (typeof bytes !== 'string') return bytes;
  throw new Error(undecoded);
}

/** JSON as its value, a form as its texts, other text as it is; undefined if there is none. */
async function valueOf(body: unknown, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const type = headers['content-type'] ?? '';
  if (
    body instanceof Uint8Array &&
    /^(multipart\/form-data|application\/x-www-form-url)/i.test(type)
  ) {
    const form = await new Response(Uint8Array.from(body), {
      headers: { 'content-type': type },
    }).formData();
    return Object.fromEntries([...form].filter(([, value]) => typeof value === 'string'));
  }
  const text = body instanceof Uint8Array ? textOf(body) : body;
  if (typeof text !== 'string') return text;
  if (text === '') return undefined;
  if (!/^[^;]*[/+]json\s*(;|$)/i.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * A caller that repeats a request with its Idempotency-Key, and gets the same answer again, must not get each callback
 * twice. Undefined: a new key, the same for all attempts to register this exchange.
 */
async function idempotencyKeyOf(
  { headers }: Asked,
  { request, response }: Exchange,
): Promise<string | undefined> {
  const { 'idempotency-key': key, authorization } = headers;
  if (key === undefined) return undefined;
  const { status, body } = response;
  const parts = [key, authorization, request.method, request.url, request.body, status, body];
  const bytes = new TextEncoder().encode(JSON.stringify(parts));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
