// The options of a client, validated once, so that a mistake fails at creation and not at the first call.
import { readUrl } from './address.ts';
import { clientLimits } from './limits.ts';
import { webPlatform, type Fetch, type Platform, type Sleep } from './platform.ts';

export interface ClientOptions {
  /** URL of the service, such as `https://ringback.example`; it may include a path. */
  url: string;
  /** `rbk_…`. Without a key, only operations that need none can be called. */
  key?: string | undefined;
  /** Sent as `X-APP-ID`. The service rejects a key that belongs to another app. */
  appId?: string | undefined;
  /** Timeout of one attempt, in milliseconds. Default: 30 seconds. */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt, where retrying is safe. Default: 4. */
  retries?: number | undefined;
  /** Aborts all calls in progress. */
  signal?: AbortSignal | undefined;
  /** Replaces the platform's fetch. */
  fetch?: Fetch | undefined;
  /** Replaces the platform's timer, for tests. */
  sleep?: Sleep | undefined;
  /** Replaces the platform's clock, in milliseconds since 1970, for tests. */
  now?: (() => number) | undefined;
}

/** Options of a single call, which override those of the client. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  retries?: number | undefined;
}

export interface Connection {
  url: string;
  key: string | undefined;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  retries: number;
  signal: AbortSignal | undefined;
  platform: Platform;
}

export function connect(options: ClientOptions): Connection {
  const { url, key, appId, signal, fetch, sleep, now } = options;
  if (key !== undefined) assertHeader('key', key);
  if (appId !== undefined) assertHeader('appId', appId);
  return {
    url: readUrl(url),
    key,
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(appId === undefined ? {} : { 'x-app-id': appId }),
    },
    ...patience(options, clientLimits),
    signal,
    platform: {
      ...webPlatform,
      ...(fetch === undefined ? {} : { fetch }),
      ...(sleep === undefined ? {} : { sleep }),
      ...(now === undefined ? {} : { now }),
    },
  };
}

/** Timeout and retries, where the call does not set its own. */
export function patience(
  given: { timeoutMs?: number | undefined; retries?: number | undefined },
  otherwise: { timeoutMs: number; retries: number },
): { timeoutMs: number; retries: number } {
  const { timeoutMs = otherwise.timeoutMs, retries = otherwise.retries } = given;
  const { timeoutMsMax, retriesMax } = clientLimits;
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > timeoutMsMax) {
    throw new RangeError(`Cannot use ${timeoutMs} as timeoutMs: expected 1 to ${timeoutMsMax}`);
  }
  if (!Number.isInteger(retries) || retries < 0 || retries > retriesMax) {
    throw new RangeError(`Cannot use ${retries} as retries: expected 0 to ${retriesMax}`);
  }
  return { timeoutMs, retries };
}

/** Never quotes the value: it may be a key followed by a line break. */
function assertHeader(name: string, value: unknown): void {
  if (typeof value !== 'string') {
    throw new TypeError(`Cannot use the ${name}: it is of type ${typeof value}, expected a string`);
  }
  if (/^[\x21-\x7e]+$/.test(value)) return;
  throw new TypeError(
    `Cannot use the ${name}: it is empty or contains characters that a header cannot ` +
      'carry, expected ASCII letters, digits and symbols without spaces or line breaks',
  );
}

export function assertIdempotencyKey(key: string): void {
  const { idempotencyKeyCharsMax } = clientLimits;
  if (
    typeof key === 'string' &&
    /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(key) &&
    key.length <= idempotencyKeyCharsMax
  ) {
    return;
  }
  throw new TypeError(
    `Cannot use "${key}" as idempotencyKey: expected 1 to ${idempotencyKeyCharsMax} ASCII ` +
      'characters without leading or trailing spaces',
  );
}
