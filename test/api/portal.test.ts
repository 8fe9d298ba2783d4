// The portal over HTTP: its links, its sessions, what they may do and how they end, and its files.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Environment } from '../../src/config.ts';
import { newFolder, type Folder } from '../cli/ringback-process.ts';
import { start, type Answer, type Call, type Started } from './harness.ts';
import { frozenWorld } from './frozen-world.ts';
import { openPortal, ticketFor as ticketOf } from './portal-session.ts';

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>';

let folder: Folder;
let service: Started;
const world = frozenWorld();
before(async () => {
  folder = await newFolder();
  const logo = join(folder.path, 'logo.svg');
  await writeFile(logo, svg);
  service = await start({ env: { RINGBACK_PORTAL_LOGO: logo, ...brand }, world });
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const brand: Environment = {
  RINGBACK_PORTAL_NAME: 'Acme',
  RINGBACK_PORTAL_ACCENT: '#0B5FFF',
  RINGBACK_PORTAL_ORIGINS: 'https://app.example.com, https://www.example.com:8443',
};

async function post(path: string, body: object, more: Partial<Call> = {}): Promise<Answer> {
  return service.call({ method: 'POST', path, body, ...more });
}

async function ticketFor(link: object, maker: Pick<Call, 'key'> = {}): Promise<string> {
  return ticketOf(service, { customer: 'cus_1', ...link }, maker);
}

async function open(
  link: object = {},
  maker: Pick<Call, 'key'> = {},
): Promise<Pick<Call, 'headers'>> {
  const token = await openPortal(service, { customer: 'cus_1', ...link }, maker);
  return { headers: { 'x-portal-session': token } };
}

/** As a customer in the portal. */
async function as(who: Pick<Call, 'headers'>, call: Call): Promise<Answer> {
  return service.call({ ...call, ...who, key: null });
}

const refusal = ({ status, json }: Answer): unknown[] => [
  status,
  json['code'],
  ...((json['errors'] ?? []) as { field: string }[]).map(({ field }) => field),
];

describe('a link to the portal', () => {
  it('opens one session, with what it grants and how it looks', async () => {
    const ticket = await ticketFor({ can: ['retry'], theme: 'dark', language: 'de' });
    const opened = await post('/portal/session', { ticket }, { key: null });
    const session = {
      appName: 'default',
      customer: 'cus_1',
      can: ['view', 'retry'],
      expiresAt: new Date(world.nowMs() + 8 * 3_600_000).toISOString(),
      theme: 'dark',
      language: 'de',
      addsEndpoints: true,
      brand: { name: 'Acme', accent: '#0b5fff', logo: '/portal/logo' },
    };
    assert.deepEqual(opened.json['session'], session);
    const who = { headers: { 'x-portal-session': String(opened.json['token']) } };
    assert.deepEqual((await as(who, { path: '/portal/session' })).json, session);
    const again = await post('/portal/session', { ticket }, { key: null });
    assert.deepEqual(refusal(again), [401, 'unauthorized']);
    assert.match(again.text, /Open the portal again from the page that led here/);
  });

  it('is refused where its terms are wrong, with what was expected', async () => {
    const cases: readonly [object, string][] = [
      [{}, 'body#/customer'],
      [{ customer: '' }, 'body#/customer'],
      [{ customer: 'a', can: ['delete'] }, 'body#/can/0'],
      [{ customer: 'a', can: [] }, 'body#/can'],
      [{ customer: 'a', expiresIn: '59s' }, 'body#/expiresIn'],
      [{ customer: 'a', expiresIn: '8d' }, 'body#/expiresIn'],
      [{ customer: 'a', expiresIn: 'soon' }, 'body#/expiresIn'],
      [{ customer: 'a', theme: 'pink' }, 'body#/theme'],
      [{ customer: 'a', costumer: 'b' }, 'body#/costumer'],
    ];
    for (const [body, field] of cases) {
      const answer = await post('/portal-links', body);
      assert.deepEqual(refusal(answer), [400, 'invalid_request', field], answer.text);
    }
  });

  it('grants nothing that its maker lacks', async () => {
    const { json } = await post('/keys', { name: 'links', scopes: ['admin', 'read'] });
    const key = String(json['key']);
    const customer = 'cus_1';
    const all = await post('/portal-links', { customer }, { key });
    assert.deepEqual(refusal(all), [403, 'missing_scope']);
    assert.match(all.text, /\\"manage\\" needs the scope \\"subscribe\\"/);
    // The scope `admin` includes `retry`.
    const fewer = await post('/portal-links', { customer, can: ['view', 'retry'] }, { key });
    assert.equal(fewer.status, 201, fewer.text);
    const reader = await post('/keys', { name: 'reader', scopes: ['read'] });
    const none = await post('/portal-links', { customer }, { key: String(reader.json['key']) });
    assert.deepEqual(refusal(none), [403, 'missing_scope']);
  });

  it('expires after an hour, the session when its time is over', async () => {
    const late = await ticketFor({});
    const who = await open({ expiresIn: '2h' });
    world.advance(3_600_000);
    assert.equal((await post('/portal/session', { ticket: late }, { key: null })).status, 401);
    assert.equal((await as(who, { path: '/subscriptions' })).status, 200);
    world.advance(3_600_000);
    assert.equal((await as(who, { path: '/subscriptions' })).status, 401);
  });

  it('ends with the key that made it, opened or not', async () => {
    const made = await post('/keys', { name: 'links', scopes: ['admin', 'read', 'subscribe'] });
    const key = String(made.json['key']);
    const ticket = await ticketFor({}, { key });
    const who = await open({}, { key });
    await service.call({ method: 'DELETE', path: `/keys/${String(made.json['id'])}` });
    assert.equal((await as(who, { path: '/subscriptions' })).status, 401);
    assert.equal((await post('/portal/session', { ticket }, { key: null })).status, 401);
  });
});

describe('a session of the portal', () => {
  it('does what the link grants, for its customer', async () => {
    const body = { callbackUrl: 'http://127.0.0.1:8099/hook' };
    const can = async (abilities: string[]): Promise<number[]> => {
      const who = await open({ can: abilities });
      const made = await as(who, { method: 'POST', path: '/subscribe', body });
      const listed = await as(who, { path: '/subscriptions' });
      const path = '/replays';
      const counted = await as(who, { method: 'POST', path, body: { dryRun: true } });
      return [listed.status, counted.status, made.status];
    };
    assert.deepEqual(await can(['view']), [200, 403, 403]);
    assert.deepEqual(await can(['retry']), [200, 200, 403]);
    assert.deepEqual(await can(['manage']), [200, 403, 201]);
    const { json } = await service.call({ path: '/subscriptions?customer=cus_1' });
    assert.equal((json['items'] as unknown[]).length, 1);
    const who = await open();
    for (const path of ['/keys', '/stream', '/apps']) {
      assert.equal((await as(who, { path })).status, 403, path);
    }
    const further = await as(who, {
      method: 'POST',
      path: '/portal-links',
      body: { customer: 'x' },
    });
    assert.deepEqual(refusal(further), [403, 'missing_scope']);
    assert.match(further.text, /the portal link has: read, retry, subscribe/);
  });

  it('is none of the console, and neither is one of the console here', async () => {
    const { headers } = await open();
    const token = headers?.['x-portal-session'] ?? '';
    const cookie = `ringback_session=${token}`;
    const inConsole = await service.call({
      path: '/subscriptions',
      key: null,
      headers: { cookie },
    });
    assert.equal(inConsole.status, 401);
    const ticket = new URL((await service.signInLink()) ?? '').hash.replace('#ticket=', '');
    assert.equal((await post('/portal/session', { ticket }, { key: null })).status, 401);
    const signedIn = await service.call({
      method: 'POST',
      path: '/console/session',
      key: null,
      body: { ticket },
      headers: { origin: service.url, 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(signedIn.status, 201, 'the ticket of the console was not used up');
    const [session = ''] = (signedIn.headers.get('set-cookie') ?? '').split(';');
    const stolen = { headers: { 'x-portal-session': session.replace('ringback_session=', '') } };
    assert.equal((await as(stolen, { path: '/subscriptions' })).status, 401);
    const portal = await post('/console/session', { ticket: await ticketFor({}) }, { key: null });
    assert.equal(portal.status, 401);
  });

  it('can be ended', async () => {
    const who = await open();
    assert.equal((await as(who, { method: 'DELETE', path: '/portal/session' })).status, 204);
    assert.equal((await as(who, { path: '/portal/session' })).status, 401);
  });
});

describe('the files of the portal', () => {
  it('may be shown by the pages of the given origins, and of no other', async () => {
    const { headers } = await service.call({ path: '/portal', key: null });
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /frame-ancestors https:\/\/app\.example\.com https:\/\/www\.example\.com:8443;/,
    );
    await using closed = await start();
    const alone = await closed.call({ path: '/portal', key: null });
    assert.match(alone.headers.get('content-security-policy') ?? '', /frame-ancestors 'none';/);
    assert.equal((await closed.call({ path: '/portal/logo', key: null })).status, 404);
  });

  it('show the logo, in which no script can run', async () => {
    const logo = await service.call({ path: '/portal/logo', key: null });
    assert.deepEqual([logo.status, logo.text], [200, svg]);
    assert.equal(logo.headers.get('content-type'), 'image/svg+xml');
    assert.match(logo.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
  });

  it('are refused at the start where they cannot be used', async () => {
    const logo = join(folder.path, 'none.svg');
    await assert.rejects(
      start({ env: { RINGBACK_PORTAL_LOGO: logo } }),
      /Cannot use RINGBACK_PORTAL_LOGO/,
    );
    await assert.rejects(
      start({ env: { RINGBACK_PORTAL_LOGO: 'logo.pdf' } }),
      /expected a file that ends in/,
    );
    const wrong = ['https://app.example.com/path', 'app.example.com', '*'];
    for (const origins of wrong) {
      await assert.rejects(
        start({ env: { RINGBACK_PORTAL_ORIGINS: origins } }),
        /expected origins such as/,
      );
    }
    await assert.rejects(
      start({ env: { RINGBACK_PORTAL_ACCENT: 'red' } }),
      /expected a colour such as/,
    );
  });
});
