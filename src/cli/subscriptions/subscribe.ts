// `ringback subscribe`: subscribes a callback URL, and prints what its receiver needs. The secret
// can be shown again with `ringback subscriptions SUB --secret`.
import type { Client, Controls, Subscribed } from '../../client/client.ts';
import { durationMs } from '../../core/base/parse-time.ts';
import { isWildcard } from '../../core/domain/pattern.ts';
import type { Invocation } from '../declare/command.ts';
import { expectId } from '../service/id-kind.ts';
import { json, viewOf } from '../service/view.ts';
import { withService } from '../service/with-service.ts';
import { calledWrongly } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { instantMs } from '../terminal/when.ts';

export async function subscribe(call: Invocation, terminal: Terminal): Promise<void> {
  const input = readSubscribeInput(call, terminal.world.nowMs());
  const idempotencyKey = call.text('idempotency-key');
  const subscribed = await withService(call, async ({ client }) =>
    send(client, input, idempotencyKey === undefined ? {} : { idempotencyKey }),
  );
  if (call.isJson) return terminal.out(json(subscribed));
  terminal.out(resultText(viewOf(terminal).paint, input, subscribed));
}

async function send(
  client: Client,
  input: SubscribeInput,
  options: { idempotencyKey?: string },
): Promise<Subscribed> {
  const { controls } = input;
  const chosen = Object.keys(controls).length === 0 ? {} : { 'x-ringback': controls };
  switch (input.kind) {
    case 'body':
      return client.subscribe({ callbackUrl: input.callbackUrl, ...chosen }, options);
    case 'query':
      return client.subscribe(
        { callbackUrl: input.callbackUrl, event: input.event, ...chosen },
        options,
      );
    case 'multi':
      return client.subscribe({ ...input.urls, ...chosen }, options);
  }
}

function resultText(
  paint: ReturnType<typeof viewOf>['paint'],
  input: SubscribeInput,
  { subscriberId, secret }: Subscribed,
): string {
  return [
    `Subscribed to ${eventList(input)}.`,
    '',
    `  subscriber id  ${paint('bold', subscriberId)}`,
    `  secret         ${paint('bold', secret)}`,
    '',
    'The receiver verifies signatures with the secret; see docs/receiving.md, or use ' +
      'ringback/receiver.',
    `  ringback subscriptions ${subscriberId} --ping    Send it a test event`,
    `  ringback deliveries --to ${subscriberId}         List its deliveries`,
    `  ringback unsubscribe ${subscriberId}             End the subscription`,
    '',
  ].join('\n');
}

function eventList(input: SubscribeInput): string {
  switch (input.kind) {
    case 'body':
      return input.controls.events?.join(' and ') ?? 'every event';
    case 'query':
      return `the event ${input.event}`;
    case 'multi':
      return [
        input.urls.inProgressUrl === undefined ? [] : ['inProgress'],
        input.urls.failedUrl === undefined ? [] : ['failed'],
        input.urls.successUrl === undefined ? [] : ['success'],
      ]
        .flat()
        .join(' and ');
  }
}

// Translates the flags of `ringback subscribe` into the input of the subscribe call. Pure. Checks
// only the syntax of each flag; the service checks the values.

export type SubscribeInput =
  | { kind: 'body'; callbackUrl: string; controls: Chosen }
  | { kind: 'query'; callbackUrl: string; event: string; controls: Chosen }
  | { kind: 'multi'; urls: MultiUrls; controls: Chosen };

export type Chosen = NonNullable<Controls>;

export interface MultiUrls {
  inProgressUrl?: string;
  failedUrl?: string;
  successUrl?: string;
}

export function readSubscribeInput(call: Invocation, nowMs: number): SubscribeInput {
  const [callbackUrl, ...more] = call.positionals;
  const urls = multiUrls(call);
  const events = call.texts('event');
  const controls = readControls(call, nowMs);
  if (more.length > 0)
    throw calledWrongly(`Cannot subscribe "${more.join(' ')}": expected one URL`);
  if (Object.keys(urls).length > 0) {
    if (callbackUrl !== undefined || events.length > 0) {
      throw calledWrongly(
        'Cannot combine a URL or --event with --in-progress, --failed or --success: each of ' +
          'those implies its event',
      );
    }
    return { kind: 'multi', urls, controls };
  }
  if (callbackUrl === undefined) {
    throw calledWrongly(
      'Cannot subscribe: no URL given. Expected URL, or any of --in-progress, --failed and ' +
        '--success',
    );
  }
  const [event, ...others] = events;
  if (event === undefined) return { kind: 'body', callbackUrl, controls };
  const isOneName = others.length === 0 && !isWildcard(event);
  return isOneName
    ? { kind: 'query', callbackUrl, event, controls }
    : { kind: 'body', callbackUrl, controls: { events, ...controls } };
}

function multiUrls({ text }: Invocation): MultiUrls {
  const [inProgressUrl, failedUrl, successUrl] = [
    text('in-progress'),
    text('failed'),
    text('success'),
  ];
  return {
    ...(inProgressUrl === undefined ? {} : { inProgressUrl }),
    ...(failedUrl === undefined ? {} : { failedUrl }),
    ...(successUrl === undefined ? {} : { successUrl }),
  };
}

function readControls(call: Invocation, nowMs: number): Chosen {
  const { text, texts, count } = call;
  const [description, timeout, rate, retry] = [
    text('description'),
    text('timeout'),
    text('rate'),
    text('retry'),
  ];
  const customer = text('customer');
  const [concurrency, signing, expires] = [count('concurrency'), text('signing'), text('expires')];
  const [filter, headers, metadata] = [texts('filter'), texts('header'), texts('metadata')];
  return {
    ...(customer === undefined ? {} : { customer }),
    ...(description === undefined ? {} : { description }),
    ...(filter.length === 0 ? {} : { filter: readFilter(filter) }),
    ...(call.isOn('ordered') ? { ordered: true } : {}),
    ...(rate === undefined ? {} : { rateLimit: readRate(rate) }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(retry === undefined ? {} : { retry: readRetry(retry) }),
    ...(signing === 'hmac' || signing === 'ed25519' ? { signing } : {}),
    ...(headers.length === 0 ? {} : { headers: readPairs(headers, headerShape) }),
    ...(metadata.length === 0 ? {} : { metadata: readPairs(metadata, metadataShape) }),
    ...(expires === undefined ? {} : { expiresAt: readExpiry(expires, nowMs) }),
  };
}

/**
 * `/order/country=NL`: parsed as JSON if it is valid, else text. A repeated place gets a list of
 * values.
 */
export function readFilter(rules: readonly string[]): Readonly<Record<string, unknown>> {
  const places = new Map<string, unknown[]>();
  for (const rule of rules) {
    const at = rule.indexOf('=');
    if (at === -1 || (at > 0 && !rule.startsWith('/'))) {
      throw calledWrongly(
        `Cannot read --filter "${rule}": expected a JSON pointer and a value, such as ` +
          '/order/country=NL',
      );
    }
    const place = rule.slice(0, at);
    places.set(place, [...(places.get(place) ?? []), readValue(rule.slice(at + 1))]);
  }
  return Object.fromEntries(
    [...places].map(([place, values]) => [place, values.length === 1 ? values[0] : values]),
  );
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface PairShape {
  flag: string;
  shape: RegExp;
  expected: string;
}

const headerShape: PairShape = {
  flag: 'header',
  shape: /^([^\s:]+):\s*(.+)$/,
  expected: `a name and a value, such as 'Authorization: Bearer abc'`,
};
const metadataShape: PairShape = {
  flag: 'metadata',
  shape: /^([^=]+)=(.*)$/,
  expected: 'a name and a value, such as team=warehouse',
};

function readPairs(
  texts: readonly string[],
  { flag, shape, expected }: PairShape,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text): [string, string] => {
      const [, name, value] = shape.exec(text) ?? [];
      // A header is often a secret, so an invalid one is not repeated.
      if (name === undefined || value === undefined) {
        throw calledWrongly(`Cannot read --${flag}: expected ${expected}`);
      }
      return [name, value];
    }),
  );
}

function readRate(text: string): number {
  const rate = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (rate > 0) return rate;
  throw calledWrongly(
    `Cannot read --rate "${text}": expected attempts per second, such as 5 or 0.5`,
  );
}

function readRetry(text: string): string[] {
  if (text === 'none') return [];
  const waits = text.split(',').map((one) => one.trim());
  if (waits.every((one) => durationMs(one) !== undefined)) return waits;
  throw calledWrongly(`Cannot read --retry "${text}": expected delays such as 5s,5m,2h, or none`);
}

function readExpiry(text: string, nowMs: number): string {
  const inMs = durationMs(text);
  const atMs = inMs === undefined ? instantMs(text) : nowMs + inMs;
  if (atMs !== undefined && atMs < expiryMsMax) return new Date(atMs).toISOString();
  throw calledWrongly(
    `Cannot read --expires "${text}": expected a duration such as 12h or 30d, or a ` +
      'timestamp such as 2027-01-31T12:00:00Z',
  );
}

/** RFC 3339 has no years of five digits. */
const expiryMsMax = Date.UTC(10_000, 0);

// `ringback unsubscribe`: ends a subscription with all its callbacks. Ending it again changes
// nothing.

export async function unsubscribe(call: Invocation, terminal: Terminal): Promise<void> {
  const [id, ...more] = call.positionals;
  if (id === undefined || more.length > 0) {
    throw calledWrongly('Cannot unsubscribe: expected one subscription, sub_…');
  }
  expectId('sub', id, 'unsubscribe');
  const answer = await withService(call, async ({ client }) => client.unsubscribe(id));
  terminal.out(call.isJson ? json(answer) : `Unsubscribed ${id}. Nothing more is sent to it.\n`);
}
