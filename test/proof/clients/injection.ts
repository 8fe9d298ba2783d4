// A client's text ends up in headers, URLs, log lines, terminals and pages. Wherever it is taken it stays
// text: no header of its own, no line of its own, nothing that a terminal obeys or a page runs.
import { receive, type Received } from '../../e2e/receiver.ts';
import { runChild } from '../../cli/ringback-process.ts';
import { rawClient, type RawAnswer, type RawClient } from '../../api/raw-client.ts';
import { attack, type Attempt, type TargetOptions, type Target } from './target.ts';
import { until } from './siege.ts';
import { exchange, requestOf } from './wire.ts';
import type { Finding } from '../finding.ts';

/** Each ends a line, a header, a string or a tag for somebody. */
const evils = [
  '\r\nX-Evil: 1',
  '\u001b[2JX-Evil',
  '\nX-Evil: 1',
  '\r\rX-Evil: 1',
  '\n{"level":60,"msg":"X-Evil"}',
  '\0X-Evil',
  '\u001b]0;X-Evil\u0007',
  '\u009b31mX-Evil',
  '\u202eX-Evil',
  '\u2028X-Evil',
  '\ud800X-Evil',
  '\u0085X-Evil',
  'čX-Evil',
  '"; X-Evil: 1; "',
  '<img src=x onerror=X-Evil>',
  '%0d%0aX-Evil:%201',
  '嘊嘍X-Evil:1',
  '{$request.header.x-api-key}X-Evil',
  '${7*7}X-Evil',
  "' or 1=1 --X-Evil",
];

/** What no line for people may hold: whatever a terminal obeys or hides. */
// oxlint-disable-next-line no-control-regex -- They are what is looked for.
const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/u;

export interface InjectOptions {
  /** How many of the texts. */
  texts: number;
}

export const injectFull: InjectOptions = { texts: evils.length };

export async function inject(attempt: Attempt, { texts }: InjectOptions): Promise<void> {
  const { target, figures, violations } = attempt;
  await using receiver = await receive(() => ({ status: 200, body: `${obeyedText}\u001b[2J` }));
  using client = rawClient(target.url);
  const subscriber = await subscribe(target, { callbackUrl: receiver.url });
  let tried = 0;
  for (const evil of evils.slice(0, texts)) {
    for (const call of placesFor(evil, { receiver: receiver.url, subscriber })) {
      const answer = await send(client, target, call);
      if (answer === undefined) continue;
      tried += 1;
      judge(violations, call, answer);
    }
  }
  tried += await injectBytes(attempt);
  const last = { event: 'a.b', payload: { message: obeyedText }, subscriberId: subscriber };
  const published = await target.call({ method: 'POST', path: '/events', body: last });
  const id = String(published.json['eventId']);
  const callbacks = await receivedOf(receiver, id);
  for (const one of callbacks) judgeCallback(violations, one);
  await lookAtTerminal(attempt, id);
  figures['texts in places'] = tried;
  figures['callbacks looked at'] = callbacks.length;
}

const event = { event: 'a.b', payload: { message: 'm' } };
/** Stands in JSON as it is. */
const obeyedText = '\u009b31m\u202eX-Evil';

interface Site {
  method: string;
  path: string;
  body?: object;
  headers?: [string, string][];
}

function placesFor(
  evil: string,
  { receiver, subscriber }: { receiver: string; subscriber: string },
): Site[] {
  const post = (path: string, body: object): Site => ({ method: 'POST', path, body });
  const coded = encodeURIComponent(evil.toWellFormed());
  const controls = (more: object): Site =>
    post('/subscribe', { callbackUrl: receiver, 'x-ringback': more });
  const query = `callbackUrl=${encodeURIComponent(`${receiver}?a=`)}${coded}&event=a.b`;
  return [
    post('/subscribe', { callbackUrl: `${receiver}?token=${evil}` }),
    post('/subscribe', { callbackUrl: `${receiver}/${evil}` }),
    post('/subscribe', { callbackUrl: `http://127.0.0.1:9${evil}/` }),
    post('/subscribe', { callbackUrl: `http://user${evil}:secret@127.0.0.1:9/` }),
    post(`/subscribe?${query}`, {}),
    { method: 'POST', path: `/subscribe?${query}` },
    {
      method: 'POST',
      path: `/subscribe?callbackUrl=${encodeURIComponent(receiver)}&event=${coded}`,
    },
    controls({ description: evil }),
    controls({ metadata: { [evil]: evil } }),
    controls({ headers: { 'x-own': evil } }),
    controls({ headers: { [`x-own${evil}`]: 'a' } }),
    controls({ filter: { [`/${evil}`]: [evil] } }),
    controls({ events: [evil] }),
    { method: 'PATCH', path: `/subscriptions/${subscriber}`, body: { description: evil } },
    post('/events', { event: `a${evil}`, payload: { message: evil } }),
    post('/events', { event: 'a.b', payload: { message: evil } }),
    post('/events', { ...event, subscriberId: evil }),
    post('/events', { ...event, contract: evil }),
    post('/keys', { name: evil, scopes: ['read'] }),
    post('/apps', { name: evil }),
    post('/replays', { filter: { event: evil } }),
    ...[
      `/subscriptions/${coded}`,
      `/events/${coded}`,
      `/contracts/${coded}`,
      `/contracts/${coded}/report`,
      `/docs?contract=${coded}`,
      `/console/${coded}`,
      `/console/assets/${coded}`,
      `/${coded}`,
      `/subscriptions?cursor=${coded}`,
      `/subscriptions?url=${coded}`,
      `/events?event=${coded}`,
      `/stats?range=${coded}`,
    ].map((path) => ({ method: 'GET', path })),
    ...[
      'X-Request-Id',
      'Idempotency-Key',
      'traceparent',
      'tracestate',
      'X-Forwarded-Host',
      'Last-Event-ID',
      'Accept',
      'Origin',
    ].map((name): Site => ({ ...post('/events', event), headers: [[name, `00-a${evil}`]] })),
  ];
}

async function send(
  client: RawClient,
  { key }: Target,
  { method, path, body, headers = [] }: Site,
): Promise<RawAnswer | undefined> {
  const own: [string, string][] = [['X-API-Key', key]];
  if (body !== undefined) own.push(['Content-Type', 'application/json']);
  try {
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return await client.send({ method, path, headers: [...own, ...headers], ...text });
  } catch (error) {
    // What cannot be sent in a header by an HTTP client; as bytes it is sent below.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function judge(
  violations: string[],
  { method, path, body, headers }: Site,
  answer: RawAnswer,
): void {
  const what = `${method} ${path} ${JSON.stringify(body ?? headers ?? '')}`.slice(0, 300);
  if (answer.status >= 500) violations.push(`I12: ${what}: answered ${answer.status}`);
  if (answer.headers['x-evil'] !== undefined) violations.push(`injection: a header by ${what}`);
  for (const [name, value] of Object.entries(answer.headers)) {
    const isEcho = name === 'location' && String(value).includes('/replays/');
    if (!isEcho && String(value).includes('X-Evil'))
      violations.push(`injection: in ${name} by ${what}`);
  }
  if (/text\/html/.test(answer.headers['content-type'] ?? '') && /<img src=x/.test(answer.text)) {
    violations.push(`injection: a tag in a page by ${what}`);
  }
}

/** Bytes that no HTTP client sends, where text of a client is read from the head. */
async function injectBytes({ target, violations }: Attempt): Promise<number> {
  const names = ['X-Request-Id', 'Idempotency-Key', 'traceparent', 'tracestate', 'Host', 'Cookie'];
  const values = ['a\x85b', 'a\xff\xfe', 'a\x7fb', 'a\tb', '\x80'.repeat(300), 'a\u00adX-Evil'];
  const text = JSON.stringify(event);
  for (const name of names) {
    for (const value of values) {
      const headers = [
        `X-API-Key: ${target.key}`,
        'Content-Type: application/json',
        `Content-Length: ${text.length}`,
        `${name}: ${value}`,
        ...(name === 'tracestate'
          ? [`traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`]
          : []),
      ];
      const request = requestOf('POST /events', headers, text);
      // One of them only: a second one is refused, whatever it says.
      const bytes = name === 'Host' ? request.replace('Host: x\r\n', '') : request;
      const { answers } = await exchange(target.url, bytes);
      const [first] = answers;
      if (first === undefined || first.status >= 500) {
        violations.push(`I12: bytes in ${name}: answered ${first?.status ?? 'nothing'}`);
      }
    }
  }
  return names.length * values.length;
}

async function subscribe({ call }: Target, body: object): Promise<string> {
  const { status, json, text } = await call({ method: 'POST', path: '/subscribe', body });
  if (status !== 201) throw new Error(text);
  return String(json['subscriberId']);
}

/** All that came up to the last event, which every subscription heard. */
async function receivedOf(
  receiver: { requests: readonly Received[]; waitFor: (n: number) => Promise<unknown> },
  lastId: string,
): Promise<readonly Received[]> {
  let seen = 0;
  while (!receiver.requests.some(({ headers }) => headers['webhook-id'] === lastId)) {
    seen = receiver.requests.length;
    await receiver.waitFor(seen + 1);
  }
  return receiver.requests;
}

function judgeCallback(violations: string[], { headers, url, method }: Received): void {
  if (headers['x-evil'] !== undefined) violations.push('injection: a header of a callback');
  if (obeyed.test(url) || obeyed.test(JSON.stringify(headers)) || method !== 'POST') {
    violations.push(`injection: in a callback: ${method} ${url} ${JSON.stringify(headers)}`);
  }
  if (JSON.stringify([url, headers]).includes('k'.repeat(40))) {
    violations.push('I16: a callback carries a key of ours');
  }
}

/** What others wrote, shown to whoever looks: lists, a payload, and what a receiver answered. */
async function lookAtTerminal({ target, violations }: Attempt, eventId: string): Promise<void> {
  const { env, url, key, call } = target;
  const attempts = `${eventId.replace('evt_', 'dlv_')}_0`;
  await until(
    async () => (await call({ path: `/deliveries/${attempts}` })).json['endedAt'] !== undefined,
  );
  const looks = [['subscriptions'], ['events', eventId], ['deliveries'], ['deliveries', attempts]];
  const shown = await Promise.all(
    looks.map(async (args) => {
      const { out, err, code } = await runChild([...args, '--url', url, '--key', key], env);
      return { what: `ringback ${args.join(' ')}`, out, err, code };
    }),
  );
  for (const { what, out, err, code } of shown) {
    if (code !== 0) violations.push(`terminal: ${what} ended with ${code}: ${err}`);
    const at = obeyed.exec(out)?.index;
    if (at === undefined) continue;
    violations.push(`terminal: ${what} shows ${JSON.stringify(out.slice(at, at + 60))}`);
  }
  if (!shown.some(({ out }) => out.includes('X-Evil'))) violations.push('terminal: nothing to see');
}

/** The log for people: the same texts, and nothing in it that a terminal would obey. */
export async function injectPretty(place: TargetOptions): Promise<Finding> {
  const env = { RINGBACK_LOG_FORMAT: 'pretty', RINGBACK_LOG: 'trace' };
  return attack('clients: texts in a log for people', { ...place, env }, async (attempt) => {
    const { target, figures, violations } = attempt;
    using client = rawClient(target.url);
    for (const evil of evils) {
      for (const call of placesFor(evil, {
        receiver: 'http://127.0.0.1:9/',
        subscriber: 'sub_x',
      })) {
        await send(client, target, call);
      }
    }
    await injectBytes(attempt);
    const log = target.log();
    figures['lines of it'] = log.split('\n').length;
    const at = obeyed.exec(log)?.index;
    if (at !== undefined)
      violations.push(`log: it holds ${JSON.stringify(log.slice(at, at + 60))}`);
  });
}
