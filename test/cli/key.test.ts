// `ringback key` as a real process: the way back in when no key is at hand.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newFolder, runChild, serve, type Ended, type Folder } from './child.ts';

interface Prepared {
  folder: Folder;
  firstKey: string;
}

/** A data folder that has been served once, with a second app called "shop". */
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

  const key = async (...args: string[]): Promise<Ended> =>
    runChild(['key', ...args], { RINGBACK_DATA: on.folder.path });
  const good = async (...args: string[]): Promise<string> => {
    const { code, out, err } = await key(...args);
    assert.deepEqual([code, err], [0, '']);
    return out;
  };
  const secretIn = (out: string): string => /^(rbk_[0-9A-Za-z]{57})$/m.exec(out)?.[1] ?? '';
  const create = async (...args: string[]): Promise<string> =>
    secretIn(await good('create', '--name', 'me', ...args));
  /** Which of these keys the service lets in, after it was started. */
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

  it('makes a key that works, shows it once, and lists it without its secret', async () => {
    const made = await create('--scopes', 'read, subscribe');
    assert.notEqual(made, '');
    const list = await good('list');
    const row = list.split('\n').find((line) => line.includes(made.slice(0, 12)));
    assert.match(row ?? '', /active\s+subscribe,read\s+never used\s+me$/);
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

  it('revokes a key, and says so twice', async () => {
    const made = await create('--scopes', 'read');
    const id = made.slice(0, 12);
    assert.equal(await good('revoke', id), `Revoked ${id}.\n`);
    assert.equal(await good('revoke', id), `Revoked ${id}.\n`);
    assert.match(await good('list'), new RegExp(`${id}  revoked`));
    assert.deepEqual(await opens(made), [false]);
    const { code, err } = await key('rotate', id);
    assert.deepEqual([code, /^Cannot rotate key .* revoked/.test(err)], [1, true], err);
  });

  it('works on another app, which has keys of its own', async () => {
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

  it('says what is wrong in a sentence', async () => {
    const mistakes: [string[], RegExp][] = [
      [[], /^Cannot run ringback key: found nothing, expected list, create, rotate or revoke/],
      [['lst'], /^Cannot run ringback key: found "lst"/],
      [['create', '--scopes', 'read'], /^Cannot make a key without --name/],
      [['create', '--name', 'x'], /^Cannot give scope ""/],
      [['create', '--name', 'x', '--scopes', 'read,root'], /^Cannot give scope "root"/],
      [['list', '--app', 'none'], /^Cannot find app "none"/],
      [['rotate'], /^There is no key/],
      [['revoke', 'rbk_00000000'], /^There is no key "rbk_00000000"/],
    ];
    const list = await good('list');
    for (const [args, pattern] of mistakes) {
      const { code, out, err } = await key(...args);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, pattern);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    assert.equal(await good('list'), list, 'and nothing changed');
  });

  it('finds no database in a folder that never had one, and makes none', async () => {
    await using folder = await newFolder();
    const typo = join(folder.path, 'typo');
    for (const path of [folder.path, typo]) {
      const { code, out, err } = await runChild(['key', 'list', '--data', path]);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /^Cannot find ".*ringback\.db": start the service once, or check --data/);
    }
    assert.deepEqual(readdirSync(folder.path), []);
    assert.ok(!existsSync(typo));
  });

  it('leaves a running service alone, and points to its API', async () => {
    await using child = await serve({ RINGBACK_DATA: on.folder.path });
    for (const args of [['list'], ['create', '--name', 'x', '--scopes', 'admin']]) {
      const { code, out, err } = await key(...args);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, /another Ringback process is using it.*\n.*use the API: POST \/keys/);
      assert.doesNotMatch(err, /^\s+at /m);
    }
    const headers = { 'X-API-Key': on.firstKey };
    const response = await fetch(`${child.url}/keys`, { headers });
    assert.equal(response.status, 200);
    await response.arrayBuffer();
  });
});
