// Gives every URL of the corpus to a whole service in every way that accepts a URL, and writes it directly to the
// database. No URL may be accepted, and no connection made.
import type { DatabaseSync } from 'node:sqlite';
import type { Resolver } from '../../../src/egress/guard/resolve.ts';
import type { Call, Started } from '../../api/harness.ts';
import { corpusMissing, hiddenAddress, laundered, readCorpus } from '../../egress/corpus.ts';
import { publish, subscribe } from '../../e2e/stage.ts';
import { migratedMemory } from '../../store/migrated-memory.ts';
import type { Finding } from '../finding.ts';
import { recorder, type Recorder } from './recorder.ts';
import { attemptsOf, closed, forAll, startOn, subscribeBody } from './stage.ts';

export interface CorpusOptions {
  /** Use every n-th URL. */
  step: number;
}

interface Hostile {
  url: string;
  /** The address that a name in it resolves to. */
  hidden: string;
}

export async function proveCorpusAtSubscribe(options: CorpusOptions): Promise<Finding> {
  const part = 'corpus at subscribe';
  if (corpusMissing !== undefined) return skipped(part, corpusMissing);
  const urls = hostileUrls(options);
  const names = hidingNames();
  const dials = nobody();
  const db = migratedMemory();
  await using service = await startOn(db, {
    env: closed,
    network: { connector: dials },
    resolver: names,
  });
  const { id } = await subscribe(service, 'http://public.example/');
  const violations: string[] = [];
  const statuses: Record<string, number> = {};
  let tries = 0;
  for (const [way, callOf] of Object.entries(waysIn(id))) {
    await forAll(urls, async ({ url, hidden }) => {
      const { status } = await service.call(callOf(names.hide(url, hidden)));
      tries += 1;
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status < 400 || status >= 500) {
        violations.push(`I15: ${way}: answered ${status} to ${JSON.stringify(url)}`);
      }
    });
  }
  violations.push(...(await nothingElse(service, { db, id })), ...dials.violations);
  const figures = { urls: urls.length, ways: Object.keys(waysIn(id)).length, tries };
  const answers = Object.fromEntries(
    Object.entries(statuses).map(([k, v]) => [`answered ${k}`, v]),
  );
  return { part, figures: { ...figures, ...answers, dials: dials.dials }, violations };
}

/** Ways to write the same URL so that it might get past the parser. */
function waysIn(subscription: string): Readonly<Record<string, (url: string) => Call>> {
  const raw = (body: string): Call => ({
    method: 'POST',
    path: '/subscribe',
    headers: { 'content-type': 'application/json' },
    body,
  });
  const query = (text: string): Call => ({
    method: 'POST',
    path: `/subscribe?event=a&${text}`,
  });
  const good = 'http://public.example/';
  const quoted = (url: string): string => JSON.stringify(url.toWellFormed());
  const encoded = (url: string): string => encodeURIComponent(url.toWellFormed());
  return {
    body: (url) => subscribeBody(url),
    'body, every character escaped': (url) => raw(`{"callbackUrl":"${escaped(url)}"}`),
    'body, behind a good one': (url) =>
      raw(`{"callbackUrl":"${good}","callbackUrl":${quoted(url)}}`),
    'body, repaired by the URL parser': (url) => subscribeBody(laundered(url)),
    'body, in capitals': (url) => subscribeBody(url.toUpperCase()),
    query: (url) => query(`callbackUrl=${encoded(url)}`),
    'query, every byte escaped': (url) => query(`callbackUrl=${everyByte(url)}`),
    'query, escaped twice': (url) => query(`callbackUrl=${encodeURIComponent(encoded(url))}`),
    'query, behind a good one': (url) =>
      query(`callbackUrl=${encodeURIComponent(good)}&callbackUrl=${encoded(url)}`),
    multi: (inProgressUrl) => ({ ...subscribeBody(''), body: { inProgressUrl } }),
    'multi, among good ones': (failedUrl) => ({
      ...subscribeBody(''),
      body: { inProgressUrl: good, failedUrl, successUrl: good },
    }),
    patch: (url) => patchUrl(subscription, url),
    'patch, repaired by the URL parser': (url) => patchUrl(subscription, laundered(url)),
  };
}

function patchUrl(subscription: string, url: string): Call {
  const body = { callbacks: [{ position: 0, url }] };
  return { method: 'PATCH', path: `/subscriptions/${subscription}`, body };
}

function escaped(url: string): string {
  const units = Array.from({ length: url.length }, (_, at) => url.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

function everyByte(url: string): string {
  return Buffer.from(url).reduce((all, byte) => `${all}%${byte.toString(16).padStart(2, '0')}`, '');
}

/** The only subscription must still be the one that existed before, with its URL unchanged. */
async function nothingElse(
  service: Started,
  { db, id }: { db: DatabaseSync; id: string },
): Promise<string[]> {
  const callbacks = db.prepare('select url from callback').all() as { url: string }[];
  const wrong = callbacks.filter(({ url }) => url !== 'http://public.example/');
  const { deliveries } = await publish(service, 'a', { subscriberId: id });
  await attemptsOf(db, deliveries ?? 1);
  return wrong.map(({ url }) => `I15: accepted ${JSON.stringify(url)}`);
}

/** URLs that are already in the database must be blocked at the attempt. */
export async function proveCorpusAtAttempt(options: CorpusOptions): Promise<Finding> {
  const part = 'corpus at the attempt';
  if (corpusMissing !== undefined) return skipped(part, corpusMissing);
  const hostile = hostileUrls(options);
  // As written and as normalised by the parser: an earlier version may have stored either.
  const urls = hostile.flatMap((one) => [one, { ...one, url: laundered(one.url) }]);
  const names = hidingNames();
  const dials = nobody();
  const db = migratedMemory();
  await using service = await startOn(db, {
    env: closed,
    network: { connector: dials },
    resolver: names,
  });
  await forAll(urls, async () => void (await subscribe(service, 'http://public.example/')));
  const update = db.prepare('update callback set url = ? where no = ?');
  const callbacks = db.prepare('select no from callback order by no').all() as { no: number }[];
  for (const [at, { no }] of callbacks.entries()) {
    const { url, hidden } = urls[at] ?? { url: '', hidden: '' };
    update.run(names.hide(url, hidden), no);
  }
  await publish(service, 'a');
  const attempts = await attemptsOf(db, urls.length);
  const violations = [...dials.violations, ...unblocked(attempts)];
  return { part, figures: { urls: urls.length, ...attempts, dials: dials.dials }, violations };
}

/** Subscribes while an operator allows everything that can be allowed, and attempts after that was revoked. */
export async function proveTakenBack(options: CorpusOptions): Promise<Finding> {
  const part = 'allowed once, then no more';
  if (corpusMissing !== undefined) return skipped(part, corpusMissing);
  const hostile = hostileUrls(options);
  const env = {
    RINGBACK_API_KEY: 'k'.repeat(40),
    RINGBACK_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    RINGBACK_RETRY: '1h',
  };
  const open = [...new Set(hostile.map(({ hidden }) => hidden))].filter((one) => !neverOpen(one));
  const allowed = { RINGBACK_ALLOW_TARGETS: ['loopback', ...open].join() };
  const names = hidingNames();
  let accepted = 0;
  const db = migratedMemory();
  const kept = await (async (): Promise<Buffer> => {
    await using generous = await startOn(db, { env: { ...env, ...allowed }, resolver: names });
    await forAll(hostile, async ({ url, hidden }) => {
      const call = subscribeBody(laundered(names.hide(url, hidden)));
      if ((await generous.call(call)).status === 201) accepted += 1;
    });
    return Buffer.from(db.serialize());
  })();
  const later = migratedMemory();
  later.deserialize(kept);
  const dials = nobody();
  await using service = await startOn(later, {
    env: { ...env, ...closed },
    network: { connector: dials },
    resolver: names,
  });
  await publish(service, 'a');
  const attempts = accepted === 0 ? {} : await attemptsOf(later, accepted);
  const violations = [...dials.violations, ...unblocked(attempts)];
  if (accepted === 0) violations.push('void: no URL was accepted while it was allowed');
  return { part, figures: { accepted, ...attempts, dials: dials.dials }, violations };
}

/** Allowing a wide range must not allow metadata services in it, or addresses that are not hosts. */
export async function proveWideRanges(options: CorpusOptions): Promise<Finding> {
  const part = 'corpus, wide ranges allowed';
  if (corpusMissing !== undefined) return skipped(part, corpusMissing);
  const opened = /^(10|172\.16|192\.168|198\.18|127)\./;
  const urls = hostileUrls(options).filter(({ hidden }) => !opened.test(hidden));
  const names = hidingNames();
  const dials = nobody();
  const wide = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,169.254.0.0/16,100.64.0.0/10,198.18.0.0/15';
  await using service = await startOn(migratedMemory(), {
    env: { ...closed, RINGBACK_ALLOW_TARGETS: `loopback,${wide},192.0.0.0/24,fd00::/8` },
    network: { connector: dials },
    resolver: names,
  });
  const violations: string[] = [];
  await forAll(urls, async ({ url, hidden }) => {
    const { status } = await service.call(subscribeBody(laundered(names.hide(url, hidden))));
    if (status < 400 || status >= 500) {
      violations.push(`I15: wide: answered ${status} to ${JSON.stringify(url)}`);
    }
  });
  return { part, figures: { urls: urls.length, dials: dials.dials }, violations };
}

function hostileUrls({ step }: CorpusOptions): Hostile[] {
  const rows = readCorpus().filter(({ wrap }, at) => at % step === 0 || wrap === 'raw');
  return rows.map((row) => ({ url: row.url, hidden: hiddenAddress(row) }));
}

function neverOpen(address: string): boolean {
  return /^(0|224|255)\./.test(address);
}

/** The guard must have blocked every attempt. */
function unblocked(attempts: Readonly<Record<string, number>>): string[] {
  const others = Object.entries(attempts).filter(([how]) => how !== 'blocked');
  return others.map(([how, count]) => `I15: ${count} attempts got past the guard: ${how}`);
}

function nobody(): Recorder {
  return recorder({
    fault: ({ address }) => (address === publicAddress ? undefined : 'no connection may go there'),
  });
}

const publicAddress = '93.184.215.14';

/** A resolver that maps each name in the corpus to its hidden address. */
function hidingNames(): Resolver & { hide: (url: string, address: string) => string } {
  const hidden = new Map<string, string>([['public.example', publicAddress]]);
  return {
    hide: (url, address) => {
      const name = URL.parse(url)?.hostname.replace(/\.$/, '');
      if (name !== undefined && name !== 'public.example') hidden.set(name, address);
      return url;
    },
    resolve: async (name) => {
      const address = hidden.get(name) ?? '10.0.0.1';
      return { kind: 'addresses', addresses: [address] };
    },
  };
}

function skipped(part: string, why: string): Finding {
  return { part, figures: {}, violations: [], skipped: why };
}
