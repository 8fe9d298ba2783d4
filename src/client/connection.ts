// The options of a client, read once: a mistake in them is heard at once and not at the first call.
import { readUrl } from './address.ts';
import { clientLimits } from './limits.ts';
import { webPlatform, type Fetch, type Platform, type Sleep } from './platform.ts';

export interface ClientOptions {
  /** Where the service is, such as `https://ringback.example`; it may stand below a path. */
  url: string;
  /** `rbk_…`. Without one, only what needs no key can be asked. */
  key?: string | undefined;
  /** Sent as `X-APP-ID`. The service refuses it if the key belongs to another app. */
  appId?: string | undefined;
  /** One try. Default: 30 seconds. */
  timeoutMs?: number | undefined;
  /** Tries after the first one, where another one is safe. Default: 4. */
  retries?: number | undefined;
  /** Ends everything that is under way, at once. */
  signal?: AbortSignal | undefined;
  /** Instead of the platform's. */
  fetch?: Fetch | undefined;
  /** Instead of the platform's timer, for tests. */
  sleep?: Sleep | undefined;
  /** Instead of the platform's clock, in milliseconds since 1970, for tests. */
  now?: (() => number) | undefined;
}

/** Of one call, in place of what the client has. */
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

/** How long and how often, where it is not said otherwise. */
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

/** Never quotes the value: it may be a key with a line break behind it. */
function assertHeader(name: string, value: unknown): void {
  if (typeof value !== 'string') {
    throw new TypeError(`Cannot use the ${name}: it is a ${typeof value}, expected a string`);
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
