// Sends every operation the largest bodies, queries and headers that the service accepts, in the most expensive
// shapes, so that one request cannot block the others. This only measures and prints the longest turns of the event
// loop; counted-work.ts asserts that the work is bounded, by counting steps, which does not depend on the machine.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call } from '../../api/harness.ts';
import type { Finding } from '../finding.ts';
import { readDocument } from '../fuzz/document.ts';
import { hostileValues, placesOf } from './hostile-values.ts';
import { requestsOf, type Request } from './operations.ts';
import { attack, type Attempt, type TargetOptions } from './target.ts';

/** The largest accepted body, by number of values and by bytes. */
const valuesMax = 49_000;
const bodyBytesMax = 1_048_576;
const headBytesMax = 15_000;

export async function keepBusy(place: TargetOptions = {}): Promise<Finding> {
  const turns = join(tmpdir(), `ringback-turns-${process.pid}`);
  writeFileSync(turns, '');
  const env = { ...place.env, PROOF_TURNS: turns };
  return attack('clients: requests made to be expensive', { ...place, env }, async (on) =>
    sendExpensive(on, turns),
  );
}

async function sendExpensive(attempt: Attempt, turns: string): Promise<void> {
  const { target, figures } = attempt;
  // Measured apart: the first request of an operation compiles its schemas or renders a page that is then cached.
  const first = watchTurns(attempt, turns);
  const later = watchTurns(attempt, turns);
  for (const request of await requestsOf(target)) {
    const { operation, method, path, body } = request;
    if (operation.operationId === 'openStream') continue;
    for (const text of body === undefined ? [undefined] : [body, '{"?":1}']) {
      await first.send(operation.operationId, { method, path, headers: json, body: text });
    }
    for (const [name, call] of expensive(request)) await later.send(name, { ...call, method });
  }
  for (const [name, path, body] of largeButValid) {
    await later.send(name, { method: 'POST', path, headers: json, body });
  }
  figures['requests made to be expensive'] = later.sent();
  figures['longest turns of the event loop, ms of CPU'] = later.longest();
  figures['and of first requests'] = first.longest();
}

const json = { 'content-type': 'application/json' };

function expensive({ operation, path, body }: Request): [string, Omit<Call, 'method'>][] {
  const document = readDocument();
  const own = document.operations.find(({ operationId }) => operationId === operation.operationId);
  if (own === undefined) return [];
  const bodies = placesOf(document, own, body ?? '{}').flatMap((place) =>
    Object.entries(hostileValues).flatMap(([name, make]): [string, Omit<Call, 'method'>][] => {
      const text = place.bodyWith(make(valuesMax));
      if (text.length > bodyBytesMax) return [];
      return [[`${own.operationId}${place.name}: ${name}`, { path, headers: json, body: text }]];
    }),
  );
  const heads = Object.entries(headsOf(path, own.parameters)).map(
    ([name, call]): [string, Omit<Call, 'method'>] => [`${own.operationId}: ${name}`, call],
  );
  return [...bodies, ...heads];
}

function headsOf(
  path: string,
  parameters: readonly { name: string; in: string }[],
): Record<string, Omit<Call, 'method'>> {
  const mark = path.includes('?') ? '&' : '?';
  const fill = (part: string): string => part.repeat(headBytesMax / part.length);
  const longQueries = parameters
    .filter((one) => one.in === 'query')
    .flatMap(({ name }): [string, Omit<Call, 'method'>][] => [
      [`${name}, a long list`, { path: `${path}${mark}${name}=${fill('a,')}` }],
      [`${name}, many times`, { path: `${path}${mark}${fill(`${name}=1&`)}` }],
    ]);
  return {
    'many parameters': { path: `${path}${mark}${fill('a&')}` },
    'an encoded parameter': { path: `${path}${mark}x=${fill('%C3%A9')}` },
    'many cookies': { path, headers: { cookie: fill('a=b;') } },
    'a long media type': { path, headers: { 'content-type': `a/b${fill(' ;a=b')}` } },
    'many codings': { path, headers: { 'accept-encoding': fill('gzip,') } },
    'many tags': { path, headers: { 'if-none-match': fill('"a",') } },
    ...Object.fromEntries(longQueries),
  };
}

const many = (payload: unknown): string =>
  JSON.stringify({ events: Array.from({ length: 1_000 }, () => ({ event: 'a.b', payload })) });

/** Name, path and body. */
const largeButValid: readonly (readonly [string, string, string])[] = [
  ['1,000 events of a kilobyte', '/events/batch', many({ message: 'm'.repeat(900) })],
  ['1,000 events with lists', '/events/batch', many({ message: 'm', list: Array(40).fill(1) })],
  ['1,000 bad events', '/events/batch', many({ message: [{}, 1] })],
  [
    'a payload of a mebibyte',
    '/events',
    JSON.stringify({ event: 'a.b', payload: { message: 'm'.repeat(1_000_000) } }),
  ],
];

/** Sends requests one at a time, and after each reads the longest turn of the service's event loop. */
function watchTurns({ target, violations }: Attempt, turns: string): Watch {
  const longest = new Map<string, number>();
  let sent = 0;
  return {
    send: async (name, call) => {
      sent += 1;
      writeFileSync(turns, '');
      const { status, text } = await target.call(call);
      // 503 only means that the machine is too busy for the store's deadline, or that the console was not built.
      if (status >= 500 && status !== 503) {
        violations.push(`I12: ${name}: answered ${status} ${text.slice(0, 200)}`);
      }
      // The service responds to this in a later turn, so the turn to be measured is already in the file.
      await target.call({ path: '/healthz' });
      const took = readFileSync(turns, 'utf8').split('\n').map(Number);
      longest.set(name, Math.max(longest.get(name) ?? 0, ...took));
    },
    sent: () => sent,
    longest: () => {
      const slowest = [...longest].toSorted(([, a], [, b]) => b - a).slice(0, shownMax);
      return slowest.map(([name, ms]) => `${Math.round(ms)} (${name})`).join(', ');
    },
  };
}

const shownMax = 3;

interface Watch {
  send: (name: string, call: Call) => Promise<void>;
  sent: () => number;
  longest: () => string;
}
