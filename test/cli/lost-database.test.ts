// A start on a full disk or without its database: the error says what to do, and no empty database is created.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { CliFailure } from '../../src/cli/terminal/failure.ts';
import { configOf } from '../../src/cli/declare/flags.ts';
import { runService } from '../../src/cli/serve/run-service.ts';
import { openStore, type OpenStore, type StoreDeps } from '../../src/store/open/open.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import { compileShim } from '../proof/power/shim.ts';
import { newFolder, runChild } from './ringback-process.ts';
import { runHere, terminalOf } from './in-process.ts';

const aloneEnv = { RINGBACK_PORT: '0', RINGBACK_LOG: 'silent' };

describe('a start without its database', () => {
  it('is refused by serve, migrate and doctor, and creates no empty database', async () => {
    for (const left of ['encryption.key', 'ringback.db-wal', 'ringback.db-shm']) {
      await using folder = await newFolder();
      writeFileSync(join(folder.path, left), '');
      const reason = new RegExp(
        `Cannot open ".*ringback\\.db": the file does not exist, but ".*${left}" does. ` +
          'Restore the database file or a backup. To start with an empty database, move these files away',
      );
      for (const args of [['serve'], ['migrate'], ['migrate', '--check']]) {
        const { code, err } = await runHere([...args, '--data', folder.path], { env: aloneEnv });
        assert.equal(code, 1, args.join(' '));
        assert.match(err, reason);
        assert.doesNotMatch(err, /^\s+at /m);
      }
      const { code, out } = await runHere(['doctor', '--data', folder.path, '--json']);
      assert.equal(code, 1);
      const findings = JSON.parse(out) as { check: string; state: string; message: string }[];
      const found = findings.find(({ check }) => check === 'store');
      assert.equal(found?.state, 'failed');
      assert.match(found.message, reason);
      assert.ok(!existsSync(join(folder.path, 'ringback.db')));
    }
  });

  it('succeeds in a folder without any database files', async () => {
    await using folder = await newFolder();
    writeFileSync(join(folder.path, 'notes.txt'), '');
    assert.equal((await runHere(['migrate', '--data', folder.path])).code, 0);
    // Like a restored backup: with the encryption key, without a WAL file.
    writeFileSync(join(folder.path, 'encryption.key'), '');
    rmSync(join(folder.path, 'ringback.db.lock'));
    assert.equal((await runHere(['migrate', '--data', folder.path])).code, 0);
  });
});

describe('a service whose store can no longer write', () => {
  it('stops with an explanation', async () => {
    await using folder = await newFolder();
    const env = { ...aloneEnv, RINGBACK_DATA: folder.path };
    const began = Promise.withResolvers<StoreDeps['onFatal']>();
    const watched: OpenStore = async (options) => {
      began.resolve(options.onFatal);
      return openStore(options);
    };
    const terminal = terminalOf({ env, columns: undefined, out: () => {}, err: () => {} });
    const call = { env, isJson: false, givenAs: new Map<string, string>() };
    const config = configOf(call, () => undefined);
    const never = new Promise<void>(() => {});
    const running = runService({ config, openStore: watched, stopped: never }, call, terminal);
    (await began.promise)(new StoreUnavailable('The store failed: "x.db" was deleted'));
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof CliFailure);
      assert.deepEqual(
        [error.message, error.exitCode],
        ['Stopped: the store failed: "x.db" was deleted', 1],
      );
      return true;
    });
  });
});

describe('a start on a full disk', () => {
  /** Full from the first byte, during the migrations, and after them. */
  const sizes = ['8k', '100k', '620k'];

  it('is explained in one sentence, whenever the disk becomes full', async (t: TestContext) => {
    await using folder = await newFolder();
    const disk = join(folder.path, 'disk');
    mkdirSync(disk);
    for (const size of sizes) {
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]);
      if (mounted.status !== 0) {
        t.skip(`cannot mount a small disk here: ${String(mounted.stderr ?? mounted.error).trim()}`);
        return;
      }
      try {
        const { code, err } = await runHere(['serve', '--data', join(disk, 'data')], {
          env: aloneEnv,
        });
        assert.equal(code, 1, size);
        assert.match(err, /^Cannot (open|start).*(is full|disk I\/O error).*; (free|check) /);
        assert.doesNotMatch(err, /^\s+at /m);
      } finally {
        spawnSync('umount', [disk]);
      }
    }
    assert.deepEqual(readdirSync(disk), []);
  });

  it('is explained in one sentence if nothing can be written at all', async (t: TestContext) => {
    await using folder = await newFolder();
    const shim = compileShim(folder.path);
    if (shim.kind === 'missing') {
      t.skip(shim.why);
      return;
    }
    const root = join(folder.path, 'root');
    mkdirSync(root);
    writeFileSync(`${root}.full`, '');
    const disk = { LD_PRELOAD: shim.path, PROOF_ROOT: root };
    const env = { ...aloneEnv, ...disk, RINGBACK_DATA: join(root, 'data') };
    const { code, err } = await runChild(['serve'], env);
    assert.equal(code, 1);
    assert.match(err, /^Cannot (open|start)/);
    assert.doesNotMatch(err, /^\s+at /m);
  });
});
