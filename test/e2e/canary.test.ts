// One scenario that uses every kind of secret and provokes every kind of failure. Afterwards no secret may appear in logs,
// traces, metrics, errors or the database. test/canary.ts covers all other tests.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sendTo, type Answer, type Call } from '../api/harness.ts';
import { newFolder, serve, type Env, type Serving } from '../cli/ringback-process.ts';
import { makeCertificate } from '../egress/certificate.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import type { Database } from '../postgres/database.ts';
import { collect } from './collector.ts';
import { receive } from './receiver.ts';
import { until } from './stage.ts';

interface Secrets {
  /** Ringback's own secrets: they may appear nowhere. */
  ours: Map<string, string>;
  /** Tokens in callback URLs: stored, because the URLs are called, but never shown. */
  stored: Map<string, string>;
}

function canary(name: string): string {
  return `CANARY-${name}-${randomBytes(12).toString('hex')}`;
}

/** The forms of a secret to look for: as text, as its bytes, and both in hex, as PostgreSQL dumps bytes. */
function looksOf(secret: string): Buffer[] {
  const bare = secret.replace(/^rbk_.{8}|^whs(?:ec|k)_/, '');
  const raw = Buffer.from(bare, 'base64');
  return [
    Buffer.from(bare),
    Buffer.from(Buffer.from(bare).toString('hex')),
    raw,
    Buffer.from(raw.toString('hex')),
  ];
}

function assertAbsent(
  secrets: ReadonlyMap<string, string>,
  where: string,
  text: string | Buffer,
): void {
  const bytes = Buffer.from(text);
  for (const [name, secret] of secrets) {
    for (const look of looksOf(secret)) {
      const at = bytes.indexOf(look);
      const around = bytes.subarray(Math.max(at - 300, 0), at + look.length).toString();
      assert.ok(at < 0, `The ${name} appears in ${where}: …${around}`);
    }
  }
}

describe('after a scenario with every secret and every failure', () => {
  it('none appears in the log, spans, metrics, errors or the SQLite file', async () => {
    await using folder = await newFolder();
    const { secrets, told } = await play({ RINGBACK_DATA: folder.path });
    for (const [where, text] of told) {
      assertAbsent(secrets.ours, where, text);
      assertAbsent(secrets.stored, where, text);
    }
    const files = readdirSync(folder.path).filter((name) => /ringback|\.db|sqlite/.test(name));
    assert.ok(files.length > 0, readdirSync(folder.path).join());
    const database = Buffer.concat(files.map((name) => readFileSync(join(folder.path, name))));
    assertAbsent(secrets.ours, 'the SQLite file', database);
    // The search works: it finds the tokens that must be stored.
    assert.throws(() => assertAbsent(secrets.stored, 'the SQLite file', database), /appears in/);
  });

  it('none appears in the log, spans, metrics, errors or a dump of PostgreSQL', async () => {
    await using database = await freshStoreDatabase();
    const url = new URL(database.url);
    if (url.password === '') url.password = canary('database'); // The server accepts any password from this machine.
    const { secrets, told } = await play({
      DATABASE_URL: url.href,
      RINGBACK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    });
    for (const [where, text] of told) {
      assertAbsent(secrets.ours, where, text);
      assertAbsent(secrets.stored, where, text);
    }
    const dump = await dumpOf(database);
    assertAbsent(secrets.ours, 'a dump', dump);
    assert.throws(() => assertAbsent(secrets.stored, 'a dump', dump), /appears in/);
  });
});

/** Every row of every table as text. */
async function dumpOf(database: Database): Promise<string> {
  const tables = await database.query(
    `select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where nspname = 'ringback' and relkind in ('r', 'p')`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await database.query(`select t::text as row from ringback."${String(name)}" as t`);
    texts.push(...rows.map(({ row }) => String(row)));
  }
  return texts.join('\n');
}

/** Runs the scenario; returns all output of the service by kind, after it has ended. */
async function play(store: Env): Promise<{ secrets: Secrets; told: Map<string, string> }> {
  await using collector = await collect();
  const first = canary('first-key').padEnd(40, 'x');
  const collectorKey = canary('collector');
  const collectorToken = canary('collector-token');
  const password = URL.parse(store['DATABASE_URL'] ?? '')?.password ?? '';
  const secrets: Secrets = {
    ours: new Map([
      ['first key', first],
      ['key of the collector', collectorKey],
      ['token of the collector', collectorToken],
      // A short password of a test server could match by chance.
      ['password of the database', password.length < 16 ? canary('none') : password],
      ['encryption key', store['RINGBACK_ENCRYPTION_KEY'] ?? canary('none')],
    ]),
    stored: new Map(),
  };
  await using service = await serve({
    RINGBACK_API_KEY: first,
    RINGBACK_LOG: 'trace',
    RINGBACK_RETRY: '1ms',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-key=${collectorKey},authorization=Bearer%20${collectorToken}`,
    OTEL_BSP_SCHEDULE_DELAY: '1',
    ...store,
  });
  const errors: string[] = [];
  const call = async (one: Call): Promise<Answer> => {
    const answer = await sendTo(service.url, first, one);
    if (answer.status >= 400) errors.push(answer.text);
    return answer;
  };
  await useKeys(call, secrets);
  await signIn(call, service, secrets);
  await deliver(call, secrets);
  await failAtTheDoor(call, secrets);
  const metrics = await call({ path: '/metrics' });
  assert.equal(metrics.status, 200);
  service.signal('SIGTERM');
  assert.equal(await service.ended, 0);
  const log = service.err();
  assert.ok(log.split('\n').length > 40, 'enough was logged');
  assert.ok(collector.spans.length > 5, 'enough was traced');
  assert.ok(errors.length > 10, 'enough errors occurred');
  const told = new Map([
    ['the log', log],
    ['spans', collector.bodies()],
    ['metrics', metrics.text],
    ['errors', errors.join('\n')],
  ]);
  return { secrets, told };
}

type Send = (call: Call) => Promise<Answer>;

async function useKeys(call: Send, { ours }: Secrets): Promise<void> {
  const made = await call({ method: 'POST', path: '/keys', body: { name: 'k', scopes: ['read'] } });
  const { id, key } = made.json;
  ours.set('made key', String(key));
  const path = `/keys/${String(id)}`;
  const rotated = await call({ method: 'POST', path: `${path}/rotate`, body: { overlap: 0 } });
  const again =
    rotated.status === 200 ? rotated : await call({ method: 'POST', path: `${path}/rotate` });
  assert.equal(again.status, 200, again.text);
  ours.set('rotated key', String(again.json['key']));
  for (const one of [key, again.json['key']]) {
    await call({ path: '/subscriptions', key: String(one) });
    await call({ path: `/subscriptions?api_key=${String(one)}`, key: null });
    await call({
      path: '/subscriptions',
      key: null,
      headers: { cookie: `X-API-KEY=${String(one)}` },
    });
  }
  await call({ method: 'DELETE', path });
  await call({ path: '/subscriptions', key: String(again.json['key']) });
}

async function signIn(call: Send, { url }: Serving, { ours }: Secrets): Promise<void> {
  const origin = { origin: url, 'sec-fetch-site': 'same-origin' };
  const key = ours.get('first key');
  const path = '/console/session';
  const signedIn = await call({ method: 'POST', path, key: null, headers: origin, body: { key } });
  assert.equal(signedIn.status, 201, signedIn.text);
  const [cookie = ''] = signedIn.headers.getSetCookie();
  const [, token = ''] = /=([^;]+)/.exec(cookie) ?? [];
  ours.set('session', token);
  const headers = { ...origin, cookie: cookie.split(';')[0] ?? '' };
  await call({ path, key: null, headers });
  const ticket = canary('ticket').padEnd(43, 'x');
  ours.set('ticket', ticket);
  await call({ method: 'POST', path, key: null, headers: origin, body: { ticket } });
  await call({ method: 'DELETE', path, key: null, headers });
  await call({ path, key: null, headers });
}

/** Delivers to receivers of every kind, with tokens in their URLs. */
async function deliver(call: Send, { ours, stored }: Secrets): Promise<void> {
  await using well = await receive();
  await using ill = await receive(() => ({ status: 500, body: 'no' }));
  await using gone = await receive(() => 410);
  await using secure = await receive(() => 200, makeCertificate('localhost'));
  const { url: refused, ...closing } = await receive();
  await closing[Symbol.asyncDispose](); // Its port now refuses connections.
  const answers: Answer[] = [];
  for (const [name, url] of Object.entries({
    well: well.url,
    ill: ill.url,
    gone: gone.url,
    secure: secure.url,
    refused,
  })) {
    const token = canary(`query-${name}`);
    stored.set(`token of ${name}`, token);
    const callbackUrl = `${url}?token=${token}`;
    const answer = await call({ method: 'POST', path: '/subscribe', body: { callbackUrl } });
    assert.equal(answer.status, 201, answer.text);
    ours.set(`signing secret of ${name}`, String(answer.json['secret']));
    answers.push(answer);
  }
  const [first] = answers;
  const path = `/subscriptions/${String(first?.json['subscriberId'])}`;
  const rotated = await call({ method: 'POST', path: `${path}/secret/rotate` });
  assert.equal(rotated.status, 200, rotated.text);
  ours.set('rotated signing secret', String(rotated.json['secret']));
  await call({ path: `${path}/secret` });
  await setHeaders(call, path, ours);
  const payload = { message: 'hello' };
  const published = await call({
    method: 'POST',
    path: '/events',
    body: { event: 'a.b', payload },
  });
  assert.equal(published.status, 202, published.text);
  const id = String(published.json['eventId']);
  await until(
    async () =>
      (await call({ path: `/deliveries?eventId=${id}` })).json['items'] as
        | { state: string }[]
        | undefined,
    (items) => items?.length === 5 && items.every(({ state }) => !/due|running/.test(state)),
  );
}

/** Sets callback headers with tokens, as users do. */
async function setHeaders(call: Send, path: string, ours: Map<string, string>): Promise<void> {
  const token = canary('header');
  ours.set('header of a subscription', token);
  const headers = { authorization: `Bearer ${token}`, 'x-token': token };
  const answer = await call({ method: 'PATCH', path, body: { headers } });
  assert.equal(answer.status, 200, answer.text);
  await call({ method: 'PATCH', path, body: { headers: { ...headers, host: token } } });
}

/** Sends requests that are refused, with secrets in every place. */
async function failAtTheDoor(call: Send, { ours }: Secrets): Promise<void> {
  const wrong = canary('wrong').padEnd(40, 'x');
  ours.set('wrong key', wrong);
  await call({ path: '/subscriptions', key: wrong });
  await call({ path: `/subscriptions?api_key=${wrong}`, key: null });
  await call({ path: `/subscriptions?api_key=${wrong}&api_key=${wrong}`, key: null });
  await call({ path: '/subscriptions', key: null, headers: { cookie: `X-API-KEY=${wrong}` } });
  await call({ path: '/subscriptions', key: null, headers: { authorization: `Bearer ${wrong}` } });
  await call({ path: `/nowhere?token=${wrong}` });
  const urls = [
    `http://user:${wrong}@127.0.0.1:9/`,
    `ftp://127.0.0.1/?token=${wrong}`,
    `http://10.0.0.1/?token=${wrong}`,
    `http://127.0.0.1:9/?token=${wrong}#${wrong}`,
    `http://[::1/?token=${wrong}`,
    `http://nowhere.invalid/?token=${wrong}`,
  ];
  for (const callbackUrl of urls) {
    const answer = await call({ method: 'POST', path: '/subscribe', body: { callbackUrl } });
    assert.ok(answer.status >= 400, callbackUrl);
  }
  await call({
    method: 'POST',
    path: '/subscribe',
    body: `{"callbackUrl": ${wrong}`,
    headers: { 'content-type': 'application/json' },
  });
}
