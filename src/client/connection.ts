// The options of a client, validated once, so that a mistake fails at creation and not at the first
// call; and the URLs of its calls.
import { clientLimits } from './limits.ts';
import { type Fetch, type Platform, type Sleep, webPlatform } from './platform.ts';

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

/** The base URL of the service, without a trailing slash. */
export function readUrl(url: string): string {
  const expected = 'expected one such as https://ringback.example';
  if (typeof url !== 'string') {
    throw new TypeError(`Cannot use the url: it is of type ${typeof url}, ${expected}`);
  }
  // Quoted text never contains a password or a key, not even part of a URL that cannot be parsed.
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) {
    const which = /[@?#]/.test(url) ? 'the url' : `"${url}" as url`;
    throw new TypeError(`Cannot use ${which}: ${expected}`);
  }
  const refuse = (why: string): never => {
    throw new TypeError(`Cannot use the url at "${parsed.host}": ${why}`);
  };
  const scheme = parsed.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') {
    return refuse(`scheme is "${scheme}", expected http or https`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return refuse(
      'it contains a user name or a password, expected none: pass the key as the option of ' +
        'that name',
    );
  }
  if (parsed.search !== '' || parsed.hash !== '' || /[?#]/.test(url)) {
    return refuse('it contains a query or a fragment, expected none');
  }
  return parsed.origin + parsed.pathname.replace(/\/+$/, '');
}

/** `/events/{id}` with its values, each escaped, so that a value cannot change the path. */
export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    // URL parsing removes `.` and `..` segments even when they are escaped.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) {
      throw new TypeError(`Cannot use "${String(value)}" as ${name}: expected a non-empty string`);
    }
    return escape(value);
  });
}

/** Starts with `?`, or is empty. Undefined values are omitted; a list is repeated or joined. */
export function writeQuery(query: object, joined: readonly string[]): string {
  const pairs = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return [];
    if (!Array.isArray(value)) return [`${escape(name)}=${escape(textOf(name, value))}`];
    const values = value.map((one: unknown) => escape(textOf(name, one)));
    return joined.includes(name)
      ? [`${escape(name)}=${values.join(',')}`]
      : values.map((one) => `${escape(name)}=${one}`);
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function textOf(name: string, value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return String(value);
  }
  throw new TypeError(
    `Cannot use a value of type ${typeof value} as ${name}: expected a string, a number or a boolean`,
  );
}

/** A lone surrogate cannot be sent, and the error of `encodeURIComponent` would not name the parameter. */
function escape(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
