// Follows the redirects that the document declares for a callback: 307 and 308, which keep method
// and body. Each hop is a request of its own to the sender, so the guard checks its URL and its
// addresses. All hops share the deadline of the attempt.
import { responseKeys, type CallbackDefinition } from '../../contract/model/contract.ts';
import type { World } from '../../core/base/world.ts';
import type { SendResult } from '../../core/domain/attempt.ts';
import { limits } from '../../core/limits/limits.ts';
import { plainUrl } from '../../core/secrets/redact.ts';
import type { SenderResult, SendOptions, SendRequest } from '../../egress/http/exchange.ts';
import type { Sender } from '../../egress/http/send.ts';
import type { PreparedTarget } from '../targets/prepared-target.ts';

export interface RedirectDeps {
  sender: Pick<Sender, 'send'>;
  world: Pick<World, 'monotonicMs'>;
}

/** What the subscriber or the document adds stays at the first origin. */
export interface Following extends Pick<PreparedTarget, 'definition' | 'headers' | 'expiring'> {
  /** By `monotonicMs`. */
  deadlineMs: number;
  options: SendOptions;
}

export interface Followed {
  result: SenderResult;
  /** In words, for the record of the attempt; undefined without a declared redirect. */
  path: string | undefined;
}

export async function followRedirects(
  { sender, world }: RedirectDeps,
  first: { request: SendRequest; result: SenderResult },
  { definition, headers: added, expiring, deadlineMs, options }: Following,
): Promise<Followed> {
  let { request, result } = first;
  const seen = new Set([request.url]);
  const steps: string[] = [];
  const secret = [...added, ...expiring.map(({ header }) => header)].map(([name]) => name);
  while (isDeclared(result, definition)) {
    const next = nextUrl(result, request.url);
    const { status } = result;
    const reason = typeof next === 'object' ? next.refused : refusalOf(next, seen);
    if (reason !== undefined || typeof next === 'object') {
      steps.push(`${status}, not followed: ${reason}`);
      break;
    }
    steps.push(`${status} to ${plainUrl(next)}`);
    const timeoutMs = Math.floor(deadlineMs - world.monotonicMs());
    if (timeoutMs <= 0) {
      const message = 'The time for the attempt ended before the redirect could be followed';
      result = { kind: 'failed', error: 'timeout', message };
      break;
    }
    const isSameOrigin = new URL(next).origin === new URL(request.url).origin;
    const headers = isSameOrigin ? request.headers : without(request.headers, secret);
    const { app, method, body } = request;
    const secretQuery = isSameOrigin ? (request.secretQuery ?? '') : '';
    request = { app, method, url: next, secretQuery, headers, body, timeoutMs };
    seen.add(next);
    // One redirect leads to the next one, so they cannot be sent at the same time.
    // oxlint-disable-next-line no-await-in-loop
    result = await sender.send(request, options);
  }
  return { result, path: steps.length === 0 ? undefined : `Redirected: ${steps.join('; ')}` };
}

/** Whether it may be one that is followed. */
export function isRedirect(result: SenderResult): result is Answered {
  return result.kind === 'answered' && (result.status === 307 || result.status === 308);
}

type Answered = Extract<SendResult, { kind: 'answered' }>;

function isDeclared(
  result: SenderResult,
  definition: CallbackDefinition | undefined,
): result is Answered {
  if (!isRedirect(result) || definition === undefined) return false;
  const { statuses, unsubscribeStatus } = definition;
  const [exact, range] = responseKeys(result.status);
  const isListed = statuses.includes(exact) || statuses.includes(range);
  return result.status !== unsubscribeStatus && isListed;
}

/** Absolute, without a fragment. The guard checks the rest when it is sent. */
function nextUrl({ headers }: Answered, from: string): string | { refused: string } {
  const [location, ...others] = headers.flatMap(([name, value]) =>
    name.toLowerCase() === 'location' ? [value] : [],
  );
  if (location === undefined) return { refused: 'the response has no Location' };
  if (others.length > 0) return { refused: 'the response has several Locations' };
  // A longer one was cut when it was kept.
  if (location.length >= limits.responseHeaderCharsMax) return { refused: 'Location is too long' };
  const url = URL.parse(location, from);
  if (url === null) return { refused: 'Location is not a URL' };
  if (url.username !== '' || url.password !== '') return { refused: 'Location has user info' };
  url.hash = '';
  if (from.startsWith('https:') && url.protocol !== 'https:') {
    return { refused: `it leads from https to ${url.protocol.slice(0, -1)}` };
  }
  return url.href;
}

function refusalOf(next: string, seen: ReadonlySet<string>): string | undefined {
  if (seen.has(next)) return 'it leads back to a URL of this attempt';
  const { redirectsMax } = limits;
  return seen.size > redirectsMax ? `there were ${redirectsMax} redirects before it` : undefined;
}

/** From alternating names and values. */
function without(headers: readonly string[], names: readonly string[]): string[] {
  const dropped = new Set(names.map((name) => name.toLowerCase()));
  const kept: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    if (!dropped.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
