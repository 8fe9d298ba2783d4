// `ringback key`: regaining access if no key is available.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newFolder, serve, type Folder } from './ringback-process.ts';
import { runHere, type InProcess } from './in-process.ts';
import { isColoured, noTerminal, runOnTerminal } from './pty.ts';

interface Prepared {
  folder: Folder;
  firstKey: string;
}

/** A data folder of a service that has run once, with a second app called "shop". */
async function prepare(): Promise<Prepared> {
  const folder = await newFolder();
  await using child = await serve({ RINGBACK_DATA: folder.path });
  const firstKey = child.key ?? '';
  const made = await fetch(`${child.url}/apps`, {
    method: 'POST',
    headers: { 'X-API-Key': firstKey, 'Content-Type': 'application/json' },
    body: '{"name":"shop"}',
  });
  assert.equal(made.status, 201);
  child.signal('SIGTERM');
  assert.equal(await child.ended, 0);
  return { folder, firstKey };
}

describe('ringback key', () => {
  let on: Prepared;
  before(async () => {
    on = await prepare();
  });
  after(async () => on.folder[Symbol.asyncDispose]());

  const key = async (...args: string[]): Promise<InProcess> =>
    runHere(['key', ...args], { env: { RINGBACK_DATA: on.folder.path } });
  const good = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await key(...args);
    assert.deepEqual([code, err], [0, '']);
    return out;
  };
  const secretIn = (out: string): string => /^(rbk_[0-9A-Za-z]{57})$/m.exec(out)?.[1] ?? '';
  const create = async (...args: string[]): Promise<string> =>
    secretIn(await good('create', '--name', 'me', ...args));
  /** Starts the service; returns which of these keys it accepts. */
  const opens = async (...keys: string[]): Promise<boolean[]> => {
    await using child = await serve({ RINGBACK_DATA: on.folder.path });
    const statuses = await Promise.all(
      keys.map(async (one) => {
        const headers = { 'X-API-Key': one };
        const response = await fetch(`${child.url}/subscriptions`, { headers });
        await response.arrayBuffer();
        return response.status;
      }),
    );
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0);
    return statuses.map((status) => status === 200);
  };

  it('creates a working key, shows it once, and lists it without its secret', async () => {
    const made = await create('--scopes', 'read, subscribe');
    assert.notEqual(made, '');
    const list = await good('list');
    const row = list.split('\n').find((line) => line.includes(made.slice(0, 12)));
    assert.match(row ?? '', /active\s+subscribe,read\s+never\s+me$/);
    assert.ok(list.includes(on.firstKey.slice(0, 12)));
    for (const secret of [made, on.firstKey]) assert.ok(!list.includes(secret.slice(12)));
    assert.deepEqual(await opens(made), [true]);
  });

  it('rotates a key: both work at first', async () => {
    const old = await create('--scopes', 'read');
    const fresh = secretIn(await good('rotate', old.slice(0, 12)));
    assert.equal(fresh.slice(0, 12), old.slice(0, 12));
    assert.notEqual(fresh, old);
    assert.deepEqual(await opens(old, fresh), [true, true]);
  });

  it('revokes a key, also repeatedly', async () => {
    const made = await create('--scopes', 'read');
    const id = made.slice(0, 12);
    assert.equal(await good('revoke', id), `Revoked ${id}.\n`);
    assert.equal(await good('revoke', id), `Revoked ${id}.\n`);
    assert.match(await good('list'), new RegExp(`${id}  revoked`));
    assert.deepEqual(await opens(made), [false]);
    const { code, err } = await key('rotate', id);
    assert.deepEqual([code, /^Cannot rotate key .* revoked/.test(err)], [1, true], err);
  });

  it('is recorded in the audit trail', async () => {
    const made = await create('--scopes', 'read');
    const id = made.slice(0, 12);
    await good('rotate', id);
    await good('revoke', id);
    await good('revoke', id);
    await using child = await serve({ RINGBACK_DATA: on.folder.path });
    const headers = { 'X-API-Key': on.firstKey };
    const response = await fetch(`${child.url}/audit?object=${id}`, { headers });
    const { items } = (await response.json()) as { items: Record<string, unknown>[] };
    assert.deepEqual(
      items.map(({ action, actor }) => ({ action, actor })),
      ['key.revoked', 'key.rotated', 'key.created'].map((action) => ({
        action,
        actor: { kind: 'cli' },
      })),
    );
    child.signal('SIGTERM');
    assert.equal(await child.ended, 0);
  });

  it('manages another app, which has its own keys', async () => {
    const made = await create('--app', 'shop', '--scopes', 'admin');
    const id = made.slice(0, 12);
    assert.ok((await good('list', '--app', 'shop')).includes(id));
    assert.ok(!(await good('list')).includes(id));
    for (const verb of ['rotate', 'revoke']) {
      const { code, err } = await key(verb, id);
      assert.deepEqual([code, err], [1, `There is no key "${id}"\n`]);
    }
    const refused = await key('create', '--app', 'shop', '--name', 'up', '--scopes', 'operator');
    assert.equal(refused.code, 1);
    assert.match(refused.err, /^Cannot give a key the scope "operator"/);
  });

  it('explains mistakes in one sentence', async () => {
    const mistakes: [string[], RegExp][] = [
      [['list', '--app', 'none'], /^Cannot find app "none"/],
      [['revoke', 'rbk_00000000'], /^There is no key "rbk_00000000"/],
    ];
    const calledWrongly: [string[], RegExp][] = [
      [['create', '--scopes', 'read'], /^Cannot create a key: --name is missing/],
      [['create', '--name', 'x'], /^Cannot create a key: --scopes is missing/],
      [['create', '--name', 'x', '--scopes', 'read,root'], /^Cannot grant scope "root": expected/],
      [['rotate'], /^Cannot rotate: no key given, expected its id/],
      [['revoke', 'rbk_00000000', 'rbk_00000001'], /^Cannot revoke "rbk_00000001"/],
      [['list', 'shop'], /^Cannot list "shop"/],
    ];
    const list = await good('list');
    for (const [args, pattern] of [...mistakes, ...calledWrongly]) {
      const { code, out, err } = await key(...args);
      const expected = mistakes.some(([known]) => known === args) ? 1 : 2;
      assert.deepEqual([code, out], [expected, ''], args.join(' '));
      assert.match(err, pattern);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    assert.equal(await good('list'), list, 'nothing changed');
  });

  it('prints the same facts as JSON', async () => {
    const facts = {
      name: 'for programs',
      scopes: ['publish'],
      customer: null,
      state: 'active',
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      oldValidUntil: null,
    };
    const args = ['--name', 'for programs', '--scopes', 'publish', '--json'];
    const made = JSON.parse(await good('create', ...args)) as Record<string, unknown>;
    const { id, key: secret, createdAt, ...rest } = made;
    assert.deepEqual(rest, facts);
    assert.match(String(secret), /^rbk_[0-9A-Za-z]{57}$/);
    assert.equal(String(secret).slice(0, 12), id);
    const rotated = JSON.parse(await good('rotate', String(id), '--json')) as typeof made;
    assert.notEqual(rotated['key'], secret);
    assert.match(String(rotated['oldValidUntil']), /Z$/);
    const revoked = JSON.parse(await good('revoke', String(id), '--json')) as typeof made;
    assert.deepEqual([revoked['id'], revoked['state'], 'key' in revoked], [id, 'revoked', false]);
    const list = JSON.parse(await good('list', '--json')) as (typeof made)[];
    const found = list.find((one) => one['id'] === id);
    assert.deepEqual([found?.['createdAt'], found?.['state']], [createdAt, 'revoked']);
    const refused = await key('revoke', 'rbk_00000000', '--json');
    const message = 'There is no key "rbk_00000000"';
    assert.deepEqual([refused.code, JSON.parse(refused.err)], [1, { error: { message } }]);
  });

  it(
    'lists keys on a terminal in a table that fits, with control characters escaped',
    { skip: noTerminal },
    async () => {
      const name = `evil \u001b[2J\u202e ${'long '.repeat(12)}`.trim();
      await good('create', '--name', name, '--scopes', 'subscribe,publish,read,admin');
      const env = { RINGBACK_DATA: on.folder.path };
      const wide = await runOnTerminal(['key', 'list'], { env, columns: 110 });
      assert.match(wide.screen[0] ?? '', /^ID +STATE +SCOPES +USED +NAME$/);
      assert.match(wide.text, /evil \\u\{1b\}\[2J\\u\{202e\} lo/);
      assert.ok(isColoured(wide.raw));
      const narrow = await runOnTerminal(['key', 'list'], {
        env: { ...env, NO_COLOR: '1' },
        columns: 60,
      });
      assert.ok(!isColoured(narrow.raw));
      assert.equal(narrow.history.length, wide.history.length, 'one line per key');
      assert.match(narrow.text, /…/);
    },
  );

  it('reports that a folder has no database, and creates none', async () => {
    await using folder = await newFolder();
    const typo = join(folder.path, 'typo');
    for (const path of [folder.path, typo]) {
      const { code, out, err } = await runHere(['key', 'list', '--data', path]);
      assert.deepEqual([code, out], [1, '']);
      assert.match(
        err,
        /^Cannot find ".*ringback\.db": no database there. Start the service once to create it, or check --data/,
      );
    }
    assert.deepEqual(readdirSync(folder.path), []);
    assert.ok(!existsSync(typo));
  });

  it('does not touch the data of a running service, and refers to its API', async () => {
    await using child = await serve({ RINGBACK_DATA: on.folder.path });
    for (const args of [['list'], ['create', '--name', 'x', '--scopes', 'admin']]) {
      const { code, out, err } = await key(...args);
      assert.deepEqual([code, out], [1, '']);
      assert.match(
        err,
        /another Ringback process is using it.*\n.*use its API instead: POST \/keys/,
      );
      assert.doesNotMatch(err, /^\s+at /m);
    }
    const headers = { 'X-API-Key': on.firstKey };
    const response = await fetch(`${child.url}/keys`, { headers });
    assert.equal(response.status, 200);
    await response.arrayBuffer();
  });
});
