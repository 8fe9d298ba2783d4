// Console sessions over real sockets, on both databases: signing in and out, what a session may do and
// until when, and where its secrets must not appear.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { scopes } from '../../src/core/domain/key.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { until } from '../e2e/stage.ts';
import { frozenWorld, type FrozenWorld } from './frozen-world.ts';
import { start, type Answer, type Running, type Started } from './harness.ts';

const path = '/console/session';

async function signIn(on: Running, body: object, headers = {}): Promise<Answer> {
  return on.call({ method: 'POST', path, key: null, body, headers });
}

async function signedIn(on: Running, body: object = { key: on.key }): Promise<string> {
  const answer = await signIn(on, body);
  assert.equal(answer.status, 201, answer.text);
  return cookieOf(answer);
}

/** The cookie as a browser sends it back. */
function cookieOf({ headers }: Answer): string {
  const [first = ''] = headers.getSetCookie();
  const [pair = ''] = first.split(';');
  return pair;
}

function tokenOf(cookie: string): string {
  return cookie.slice('ringback_session='.length);
}

/** Calls with only the session as credential. */
async function by(cookie: string, on: Running, call: Partial<CallOf> = {}): Promise<Answer> {
  const { headers = {}, ...rest } = call;
  return on.call({ path: '/subscriptions', key: null, ...rest, headers: { cookie, ...headers } });
}
type CallOf = Parameters<Running['call']>[0];

async function ticketOf(on: Started): Promise<string> {
  const link = await on.signInLink();
  const [, ticket = ''] = /\/console#ticket=([\w-]{43})$/.exec(link ?? '') ?? [];
  assert.notEqual(ticket, '', 'expected a link');
  return ticket;
}

async function makeKey(on: Running, fields: object): Promise<{ id: string; key: string }> {
  const body = { name: 'k', scopes: ['read'], ...fields };
  const { status, text, json } = await on.call({ method: 'POST', path: '/keys', body });
  assert.equal(status, 201, text);
  return { id: String(json['id']), key: String(json['key']) };
}

describe('signIn', () => {
  let world: FrozenWorld;
  let on: Started;
  before(async () => {
    world = frozenWorld();
    on = await start({ world });
  });
  after(async () => on[Symbol.asyncDispose]());

  it('accepts a key, returns its identity, and sets a cookie that no script can read', async () => {
    const answer = await signIn(on, { key: on.key });
    assert.equal(answer.status, 201);
    assert.deepEqual(answer.json, {
      appId: on.appId,
      appName: 'default',
      keyId: on.key.slice(0, 12),
      keyName: 'first key',
      scopes: ['subscribe', 'publish', 'read', 'retry', 'admin', 'operator'],
      expiresAt: new Date(world.nowMs() + limits.sessionMs).toISOString(),
    });
    const cookies = answer.headers.getSetCookie();
    assert.equal(cookies.length, 1);
    assert.match(
      cookies[0] ?? '',
      /^ringback_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    assert.equal((await by(cookieOf(answer), on)).status, 200);
  });

  it('accepts the ticket of a link once', async () => {
    const ticket = await ticketOf(on);
    const both = await Promise.all([signIn(on, { ticket }), signIn(on, { ticket })]);
    const [answer, ...others] = both.filter(({ status }) => status === 201);
    assert.ok(answer);
    assert.deepEqual(others, []);
    assert.equal(answer.json['keyId'], on.key.slice(0, 12));
    assert.equal((await by(cookieOf(answer), on)).status, 200);
    assert.equal((await signIn(on, { ticket })).status, 401);
  });

  it('refuses a ticket that is an hour old', async () => {
    const [early, late] = [await ticketOf(on), await ticketOf(on)];
    world.advance(limits.ticketMs - 1);
    assert.equal((await signIn(on, { ticket: early })).status, 201);
    world.advance(1);
    assert.equal((await signIn(on, { ticket: late })).status, 401);
  });

  it('refuses the ticket of a key that was revoked since', async () => {
    await using other = await start();
    const ticket = await ticketOf(other);
    const { key } = await makeKey(other, { scopes });
    const gone = { method: 'DELETE', path: `/keys/${other.key.slice(0, 12)}`, key };
    assert.equal((await other.call(gone)).status, 204);
    assert.equal((await signIn(other, { ticket })).status, 401);
    const next = await signIn(other, { ticket: await ticketOf(other) });
    assert.equal(next.json['keyId'], key.slice(0, 12), 'the next ticket is for the remaining key');
  });

  it('returns no link if no key may manage the app', async () => {
    await using other = await start();
    const gone = { method: 'DELETE', path: `/keys/${other.key.slice(0, 12)}` };
    assert.equal((await other.call(gone)).status, 204);
    assert.equal(await other.signInLink(), undefined);
  });

  it('answers every invalid credential with the same 401 and challenge', async () => {
    const revoked = await makeKey(on, {});
    await on.call({ method: 'DELETE', path: `/keys/${revoked.id}` });
    const cookie = await signedIn(on);
    const wrong = [
      { key: revoked.key },
      { key: 'wrong' },
      { key: on.key.slice(0, -1) + (on.key.endsWith('x') ? 'y' : 'x') },
      { key: tokenOf(cookie) },
      { ticket: on.key },
      { ticket: 'x' },
      { ticket: tokenOf(cookie) },
      { ticket: 'A'.repeat(43) },
    ];
    const answers = await Promise.all(wrong.map(async (body) => signIn(on, body)));
    const details = new Set(answers.map(({ json }) => json['detail']));
    assert.equal(details.size, 1);
    for (const { status, headers, json } of answers) {
      assert.equal(status, 401);
      assert.equal(json['code'], 'unauthorized');
      assert.equal(headers.get('www-authenticate'), 'ApiKey realm="ringback"');
      assert.deepEqual(headers.getSetCookie(), []);
    }
  });

  it('requires either a key or a ticket', async () => {
    for (const body of [{}, { key: '' }, { key: 1 }, { key: on.key, ticket: 'x' }]) {
      assert.equal((await signIn(on, body)).status, 400, JSON.stringify(body));
    }
  });

  it('refuses sign-ins from pages of another origin', async () => {
    const cases: [Record<string, string>, number][] = [
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ 'sec-fetch-site': 'same-origin', origin: on.url }, 201],
      [{ origin: on.url }, 201],
      [{}, 201],
    ];
    for (const [headers, status] of cases) {
      const answer = await signIn(on, { key: on.key }, headers);
      assert.equal(answer.status, status, JSON.stringify(headers));
      if (status === 403) assert.equal(answer.json['code'], 'cross_origin');
    }
    const ticket = await ticketOf(on);
    await signIn(on, { ticket }, { origin: 'https://evil.example' });
    assert.equal(
      (await signIn(on, { ticket })).status,
      201,
      'a refused call does not use up the ticket',
    );
  });

  it('ends the previous session of the browser, and no other; a refused call ends none', async () => {
    const [mine, theirs] = [await signedIn(on), await signedIn(on)];
    await signIn(on, { key: 'wrong' }, { cookie: mine });
    assert.equal((await by(mine, on)).status, 200);
    const next = await signIn(on, { key: on.key }, { cookie: mine });
    assert.equal(next.status, 201);
    assert.equal((await by(mine, on)).status, 401);
    for (const cookie of [cookieOf(next), theirs]) {
      assert.equal((await by(cookie, on)).status, 200);
    }
    const broken = { cookie: 'ringback_session=x' };
    assert.equal((await signIn(on, { key: on.key }, broken)).status, 201);
  });

  it('sets Secure on the cookie if the public URL is https', async () => {
    await using other = await start({ env: { RINGBACK_PUBLIC_URL: 'https://hooks.example' } });
    const answer = await signIn(other, { key: other.key });
    assert.match(answer.headers.getSetCookie()[0] ?? '', /; Secure$/);
    const cookie = cookieOf(answer);
    for (const method of ['GET', 'DELETE']) {
      const { headers } = await by(cookie, other, { method, path });
      assert.match(headers.getSetCookie()[0] ?? '', /; Secure$/);
    }
    assert.match((await other.signInLink()) ?? '', /^https:\/\/hooks\.example\/console#ticket=/);
  });

  it('sets Secure on the cookie if a trusted proxy was called over https', async () => {
    await using behind = await start({ env: { RINGBACK_TRUST_PROXY: 'on' } });
    await using open = await start();
    const cases: [Started, string, boolean][] = [
      [behind, 'https', true],
      [behind, 'http', false],
      [open, 'https', false],
    ];
    for (const [place, proto, isSecure] of cases) {
      const headers = { 'x-forwarded-proto': proto };
      const made = await signIn(place, { key: place.key }, headers);
      const again = await by(cookieOf(made), place, { path, headers });
      for (const answer of [made, again]) {
        const [setCookie = ''] = answer.headers.getSetCookie();
        assert.equal(setCookie.endsWith('; Secure'), isSecure, setCookie);
      }
    }
  });
});

describe('getSession', () => {
  it('returns the identity of the session, and refuses keys', async () => {
    await using on = await start();
    const made = await signIn(on, { key: on.key });
    const cookie = cookieOf(made);
    const found = await by(cookie, on, { path });
    assert.equal(found.status, 200);
    const { expiresAt: _made, ...who } = made.json;
    const { expiresAt: _found, ...again } = found.json;
    assert.deepEqual(again, who);
    assert.equal(cookieOf(found), cookie, 'the lifetime of the cookie is extended');
    for (const headers of [{}, { cookie: `X-API-KEY=${on.key}` }]) {
      const answer = await on.call({ path, headers });
      assert.equal(answer.status, 401);
      const challenge = 'ApiKey realm="ringback", in="cookie", name="ringback_session"';
      assert.equal(answer.headers.get('www-authenticate'), challenge);
    }
  });

  it('ends no later than the key', async () => {
    const world = frozenWorld();
    await using on = await start({ world });
    const expiresAt = new Date(world.nowMs() + 60_000).toISOString();
    const { key } = await makeKey(on, { expiresAt });
    const answer = await signIn(on, { key });
    assert.equal(answer.json['expiresAt'], expiresAt);
    assert.match(answer.headers.getSetCookie()[0] ?? '', /Max-Age=60;/);
    world.advance(59_999);
    assert.equal((await by(cookieOf(answer), on)).status, 200);
    world.advance(1);
    assert.equal((await by(cookieOf(answer), on)).status, 401);
  });
});

describe('a session', () => {
  it('lasts 12 hours after its last use, and at most 30 days', async () => {
    const world = frozenWorld();
    await using on = await start({ world });
    const [used, idle] = [await signedIn(on), await signedIn(on)];
    const endMs = world.nowMs() + limits.sessionLongestMs;
    world.advance(limits.sessionMs - 1);
    assert.equal((await by(used, on)).status, 200);
    world.advance(1);
    assert.equal((await by(idle, on)).status, 401);
    const stepMs = limits.sessionMs - limits.sessionProlongMs; // The precision with which the last use is stored.
    for (; world.nowMs() + limits.sessionMs < endMs; world.advance(stepMs)) {
      assert.equal((await by(used, on)).status, 200);
    }
    assert.equal((await by(used, on)).status, 200);
    world.advance(endMs - world.nowMs());
    assert.equal((await by(used, on)).status, 401);
  });

  it('is not extended by the live view of an unattended page', async () => {
    const world = frozenWorld();
    await using on = await start({ world });
    const cookie = await signedIn(on);
    const stream = { method: 'HEAD', path: '/stream' };
    world.advance(limits.sessionMs - 1);
    assert.equal((await by(cookie, on, stream)).status, 200);
    world.advance(1);
    assert.equal((await by(cookie, on, stream)).status, 401);
    assert.equal((await by(cookie, on)).status, 401);
  });

  it('has the scopes of its key', async () => {
    await using on = await start();
    const { key } = await makeKey(on, { scopes: ['read'] });
    const cookie = await signedIn(on, { key });
    assert.equal((await by(cookie, on, { path: '/deliveries' })).status, 200);
    const body = { name: 'n', scopes: ['read'] };
    const refused = await by(cookie, on, { method: 'POST', path: '/keys', body });
    assert.equal(refused.status, 403);
    assert.equal(refused.json['code'], 'missing_scope');
    const operator = await signedIn(on);
    assert.equal((await by(operator, on, { path: '/apps' })).status, 200);
    assert.equal((await by(operator, on, { method: 'POST', path: '/keys', body })).status, 201);
  });

  it('is subject to the rules for cookies', async () => {
    await using on = await start();
    const cookie = await signedIn(on);
    const publish = {
      method: 'POST',
      path: '/events',
      body: { event: 'e', payload: { message: 'm' } },
    };
    const from = async (headers: Record<string, string>): Promise<number> =>
      (await by(cookie, on, { ...publish, headers })).status;
    assert.equal(await from({ 'sec-fetch-site': 'cross-site' }), 403);
    assert.equal(await from({ origin: 'https://evil.example' }), 403);
    assert.equal(await from({ 'sec-fetch-site': 'same-origin' }), 202);
    const gone = { method: 'DELETE', path, headers: { 'sec-fetch-site': 'cross-site' } };
    assert.equal((await by(cookie, on, gone)).status, 403);
    assert.equal((await by(cookie, on)).status, 200);
  });

  it('appears in no log, nor does a ticket', async () => {
    await using on = await start();
    const ticket = await ticketOf(on);
    const cookie = await signedIn(on, { ticket });
    await by(cookie, on);
    await by(cookie, on, { path });
    await by(cookie, on, { path: `/subscriptions?x=${tokenOf(cookie)}` });
    await signIn(on, { ticket });
    await by(cookie, on, { method: 'DELETE', path });
    assert.ok(on.logged().includes('signIn'));
    for (const secret of [ticket, tokenOf(cookie), on.key]) {
      assert.ok(!on.logged().includes(secret));
    }
  });

  it('requires exactly its token, as the session cookie', async () => {
    await using on = await start();
    const cookie = await signedIn(on);
    for (const value of ['', 'x', tokenOf(cookie).slice(0, -1), `"${tokenOf(cookie)}x"`]) {
      assert.equal((await by(`ringback_session=${value}`, on)).status, 401);
    }
    assert.equal((await by(`${cookie}; ${cookie}`, on)).status, 401, 'given twice (24)');
    const beside = { headers: { 'x-api-key': 'wrong' } };
    assert.equal((await by(cookie, on, beside)).status, 200, 'with a wrong key in the header (24)');
    const token = tokenOf(cookie);
    assert.equal((await on.call({ path: '/subscriptions', key: token })).status, 401);
  });
});

interface DatabaseChoice {
  name: string;
  env: () => Promise<{ env: Record<string, string> } & AsyncDisposable>;
}

const databases: DatabaseChoice[] = [
  {
    name: 'SQLite',
    env: async () => ({ env: {}, [Symbol.asyncDispose]: async () => undefined }),
  },
  {
    name: 'PostgreSQL',
    env: async () => {
      const database = await freshStoreDatabase();
      return {
        env: { DATABASE_URL: database.url },
        [Symbol.asyncDispose]: async () => database[Symbol.asyncDispose](),
      };
    },
  },
];

for (const { name, env } of databases) {
  describe(`sessions on ${name}`, () => {
    it('end with the key, and at once with a sign-out', async () => {
      await using place = await env();
      await using on = await start({ env: place.env });
      const { id, key } = await makeKey(on, {});
      const [first, second] = [await signedIn(on, { key }), await signedIn(on, { key })];
      const out = await by(first, on, { method: 'DELETE', path });
      assert.equal(out.status, 204);
      assert.match(out.headers.getSetCookie()[0] ?? '', /^ringback_session=; Path=\/; Max-Age=0;/);
      assert.equal((await by(first, on)).status, 401);
      assert.equal((await by(first, on, { method: 'DELETE', path })).status, 401);
      assert.equal((await by(second, on)).status, 200, 'another session is not affected');
      await on.call({ method: 'DELETE', path: `/keys/${id}` });
      assert.equal((await by(second, on)).status, 401);
    });

    it('end with the secret of their sign-in, so that a leaked secret cannot outlive its rotation', async () => {
      await using place = await env();
      const world = frozenWorld();
      await using on = await start({ env: place.env, world });
      const { id, key } = await makeKey(on, {});
      const rotate = async (overlapSeconds: number): Promise<string> => {
        const call = { method: 'POST', path: `/keys/${id}/rotate`, body: { overlapSeconds } };
        return String((await on.call(call)).json['key']);
      };
      const first = await signedIn(on, { key });
      const next = await rotate(60);
      const second = await signedIn(on, { key: next });
      const shown = await by(first, on, { path });
      assert.equal(shown.json['expiresAt'], new Date(world.nowMs() + 60_000).toISOString());
      world.advance(60_000);
      assert.equal((await by(first, on)).status, 401, 'the overlap is over');
      assert.equal((await by(second, on)).status, 200);
      const last = await rotate(0);
      assert.equal((await by(second, on)).status, 401, 'without an overlap it ends at once');
      assert.equal((await by(await signedIn(on, { key: last }), on)).status, 200);
    });

    it('are not created by the ticket of a replaced secret', async () => {
      await using place = await env();
      await using on = await start({ env: place.env });
      const ticket = await ticketOf(on);
      const rotate = { method: 'POST', path: `/keys/${on.key.slice(0, 12)}/rotate` };
      const { status } = await on.call({ ...rotate, body: { overlapSeconds: 0 } });
      assert.equal(status, 200);
      assert.equal((await signIn(on, { ticket })).status, 401);
    });

    it('see nothing of another app', async () => {
      await using place = await env();
      await using on = await start({ env: place.env });
      const made = await on.call({ method: 'POST', path: '/apps', body: { name: 'other' } });
      const otherKey = String(made.json['key']);
      const [ours, theirs] = [await signedIn(on), await signedIn(on, { key: otherKey })];
      const body = { callbackUrl: 'http://127.0.0.1:9000/' };
      const subscribed = await by(ours, on, { method: 'POST', path: '/subscribe', body });
      assert.equal(subscribed.status, 201, subscribed.text);
      const one = { path: `/subscriptions/${String(subscribed.json['subscriberId'])}` };
      assert.equal((await by(ours, on, one)).status, 200);
      assert.equal((await by(theirs, on, one)).status, 404);
      assert.deepEqual((await by(theirs, on)).json['items'], []);
      const who = await by(theirs, on, { path });
      assert.deepEqual([who.json['appName'], who.json['appId']], ['other', made.json['id']]);
      const both = `${ours}; X-API-KEY=${otherKey}`;
      assert.equal(
        (await by(both, on, one)).status,
        200,
        'takes precedence over a key in a cookie',
      );
      const named = { ...one, headers: { 'x-api-key': otherKey } };
      assert.equal((await by(ours, on, named)).status, 404, 'a key in the header takes precedence');
    });

    it('need no app id, even if keys need one', async () => {
      await using place = await env();
      await using on = await start({ env: { ...place.env, RINGBACK_REQUIRE_APP_ID: 'on' } });
      assert.equal((await on.call({ path: '/subscriptions' })).status, 401);
      const cookie = await signedIn(on);
      assert.equal((await by(cookie, on)).status, 200);
      assert.equal((await by(cookie, on, { path })).status, 200);
    });
  });
}

describe('sessions in a cluster', () => {
  it('are valid on all nodes: created on one, ended on another, noticed within a second', async () => {
    await using database = await freshStoreDatabase();
    const encryptionKey = Buffer.alloc(32, 7).toString('base64');
    const key = 'cluster-session-key-'.padEnd(40, 'k');
    const env = {
      DATABASE_URL: database.url,
      RINGBACK_ENCRYPTION_KEY: encryptionKey,
      RINGBACK_API_KEY: key,
    };
    await using here = await start({ env });
    await using there = await start({ env: { ...env, RINGBACK_NODE_NAME: 'there' } });
    const ticket = await ticketOf(here);
    const cookie = await signedIn(there, { ticket });
    assert.equal((await signIn(here, { ticket })).status, 401);
    assert.equal((await by(cookie, here)).status, 200);
    assert.equal((await by(cookie, there, { method: 'DELETE', path })).status, 204);
    await until(
      async () => (await by(cookie, here)).status,
      (status) => status === 401,
    );
  });
});
