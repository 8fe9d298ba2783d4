// `ringback migrate`: how it changes a database, and what it only reports.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { readMigrations } from '../../src/store/sql/migration-rules.ts';
import { applyMigrations } from '../../src/store/sqlite/schema/apply-migrations.ts';
import { migrationsDir } from '../store/open-memory.ts';
import { newFolder, serve } from './ringback-process.ts';
import { runHere, type InProcess } from './in-process.ts';
import { isColoured, noTerminal, runOnTerminal } from './pty.ts';

const known = readMigrations(migrationsDir);
const last = known.length;
const lines = (from: number, what: string): string =>
  known
    .slice(from)
    .map(({ number, name }) => `migration ${number} "${name}" ${what}\n`)
    .join('');

async function migrate(path: string, ...args: string[]): Promise<InProcess> {
  return runHere(['migrate', '--data', path, ...args]);
}

/** Creates a database as an earlier version left it. */
function makeOld(path: string, migrations: number): void {
  const older = join(path, 'migrations');
  mkdirSync(older, { recursive: true });
  for (const { number, name, sql } of known.slice(0, migrations)) {
    writeFileSync(join(older, `${String(number).padStart(4, '0')}_${name}.sql`), sql);
  }
  const file = join(path, 'ringback.db');
  const db = new DatabaseSync(file);
  applyMigrations(db, { database: file, migrationsDir: older, nowMs: 1 });
  db.close();
}

describe('ringback migrate', () => {
  it('creates a database if there is none, and the service starts on it', async () => {
    await using folder = await newFolder();
    const path = join(folder.path, 'new');
    assert.deepEqual(await migrate(path), { code: 0, out: lines(0, 'applied'), err: '' });
    const again = { code: 0, out: `already at migration ${last}\n`, err: '' };
    assert.deepEqual(await migrate(path), again);
    assert.deepEqual(await migrate(path, '--check'), again);
    await using child = await serve({ RINGBACK_DATA: path });
    assert.match(child.key ?? '', /^rbk_/);
  });

  it('applies the migrations that an earlier version lacks, and lists them', async () => {
    await using folder = await newFolder();
    makeOld(folder.path, last - 2);
    assert.deepEqual(await migrate(folder.path, '--check'), {
      code: 1,
      out: '',
      err: lines(last - 2, 'is pending'),
    });
    assert.deepEqual(await migrate(folder.path), {
      code: 0,
      out: lines(last - 2, 'applied'),
      err: '',
    });
    assert.equal((await migrate(folder.path, '--check')).code, 0);
  });

  it('changes nothing with --check, and does not create a missing folder', async () => {
    await using folder = await newFolder();
    const path = join(folder.path, 'typo');
    assert.deepEqual(await migrate(path, '--check'), {
      code: 1,
      out: '',
      err: lines(0, 'is pending'),
    });
    assert.ok(!existsSync(path));
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('is refused while the service is running; --check is not', async () => {
    await using folder = await newFolder();
    await using child = await serve({ RINGBACK_DATA: folder.path });
    const { code, out, err } = await migrate(folder.path);
    assert.deepEqual([code, out], [1, '']);
    assert.match(
      err,
      /^Cannot open ".*": another Ringback process is using it\. Stop that process/,
    );
    assert.doesNotMatch(err, /^\s+at /m);
    assert.deepEqual((await migrate(folder.path, '--check')).out, `already at migration ${last}\n`);
    assert.equal((await fetch(`${child.url}/healthz`)).status, 200);
  });

  it('explains failures in one sentence', async () => {
    await using folder = await newFolder();
    const newer = join(folder.path, 'newer');
    makeOld(newer, last);
    const db = new DatabaseSync(join(newer, 'ringback.db'));
    db.exec(`insert into migration (number, name, applied_ms) values (${last + 1}, 'future', 1)`);
    db.close();
    const none = join(folder.path, 'none');
    mkdirSync(none);
    writeFileSync(join(none, 'ringback.db'), 'this is no database, it is a text of some length');
    const mistakes: [string[], RegExp][] = [
      [['--data', newer], /^Cannot open ".*": it is at migration \d+, and this program knows/],
      [['--data', newer, '--check'], /^Cannot open ".*": it is at migration/],
      [['--data', none], /^Cannot read ".*ringback\.db": file is not a database/],
      [['--data', none, '--check'], /^Cannot read ".*ringback\.db": file is not a database/],
    ];
    for (const [args, pattern] of mistakes) {
      const { code, out, err } = await runHere(['migrate', ...args]);
      assert.deepEqual([code, out], [1, ''], args.join(' '));
      assert.match(err, pattern);
      assert.doesNotMatch(err, /^\s+at /m);
    }
  });

  it('prints the same facts as JSON', async () => {
    await using folder = await newFolder();
    makeOld(folder.path, last - 2);
    const two = known.slice(-2).map(({ number, name }) => ({ number, name }));
    const due = await migrate(folder.path, '--check', '--json');
    assert.deepEqual(JSON.parse(due.out), { applied: [], due: two, at: last - 2, last });
    const message = lines(last - 2, 'is pending').trimEnd();
    assert.deepEqual([due.code, JSON.parse(due.err)], [1, { error: { message } }]);
    const done = await migrate(folder.path, '--json');
    assert.deepEqual([done.code, done.err], [0, '']);
    assert.deepEqual(JSON.parse(done.out), { applied: two, due: [], at: last, last });
  });

  it('shows its progress on a terminal, and then the result', { skip: noTerminal }, async () => {
    await using folder = await newFolder();
    const args = ['migrate', '--data', join(folder.path, 'new')];
    const { code, screen, raw } = await runOnTerminal(args, { columns: 60, rows: last + 10 });
    assert.equal(code, 0);
    assert.match(raw, new RegExp(`Migrations  ░+  0 % · 0 of ${last}`));
    assert.deepEqual(screen, lines(0, 'applied').trimEnd().split('\n'), 'the bar was removed');
    assert.ok(isColoured(raw));
    const again = await runOnTerminal(args, { columns: 100 });
    assert.deepEqual([again.code, again.raw], [0, `already at migration ${last}\r\n`]);
  });
});
