import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CannotOpenStore } from '../port/store.ts';
import { dueMigrations, migrationHash, readMigrations } from './migration-rules.ts';

const database = 'data/ringback.db';
const known = ['init', 'events', 'replays'].map((name, i) => ({
  number: i + 1,
  name,
  sql: `-- ${name}`,
}));
const numbers = (list: readonly { number: number }[]) => list.map(({ number }) => number);

describe('dueMigrations', () => {
  it('returns all migrations for an empty database, in order', () => {
    assert.deepEqual(numbers(dueMigrations({ database, known, applied: [] })), [1, 2, 3]);
  });

  it('returns only those that the database has not had', () => {
    const applied = known.slice(0, 2);
    assert.deepEqual(numbers(dueMigrations({ database, known, applied })), [3]);
    assert.deepEqual(dueMigrations({ database, known, applied: known }), []);
  });

  it('refuses a database that is newer than the program, and names both numbers', () => {
    assert.throws(
      () => dueMigrations({ database, known: known.slice(0, 1), applied: known }),
      (error) => {
        assert(error instanceof CannotOpenStore);
        assert.equal(error.code, 'newer_schema');
        assert.equal(
          error.message,
          'Cannot open "data/ringback.db": it is at migration 3, and this program knows ' +
            'migrations up to 1. Start the newer Ringback that wrote it',
        );
        return true;
      },
    );
  });

  it('refuses a gap, in the program and in the database', () => {
    const gap = known.filter(({ number }) => number !== 2);
    const refusal = {
      name: 'CannotOpenStore',
      code: 'bad_migrations',
      message: /number 3 at place 2/,
    };
    assert.throws(() => dueMigrations({ database, known: gap, applied: [] }), refusal);
    assert.throws(() => dueMigrations({ database, known, applied: gap }), refusal);
  });

  it('refuses two migrations with one number', () => {
    const [first] = known;
    assert(first !== undefined);
    const twice = [first, { ...first, name: 'again' }];
    assert.throws(() => dueMigrations({ database, known: twice, applied: [] }), {
      message: /number 1 at place 2/,
    });
  });

  it('refuses a migration that was changed after it was applied, and names both hashes', () => {
    const recorded = known.map((one) => ({ ...one, hash: migrationHash(one.sql) }));
    assert.deepEqual(dueMigrations({ database, known, applied: recorded }), []);
    const applied = recorded.with(1, {
      number: 2,
      name: 'events',
      sql: '',
      hash: migrationHash('-- other'),
    });
    assert.throws(() => dueMigrations({ database, known, applied }), {
      code: 'bad_migrations',
      message:
        `Cannot open "data/ringback.db": migration 2 "events" was applied with hash ` +
        `${migrationHash('-- other').slice(0, 12)}, but this program has it with ` +
        `${migrationHash('-- events').slice(0, 12)}: the file was changed in between. Start the ` +
        'Ringback that applied it, restore a backup of this version, or, if you edited the file, revert the edit',
    });
  });

  it('refuses a database with another history', () => {
    const applied = [{ number: 1, name: 'other' }];
    assert.throws(() => dueMigrations({ database, known, applied }), {
      code: 'bad_migrations',
      message: /number 1 of "data\/ringback.db" is "other", expected "init"/,
    });
  });
});

describe('readMigrations', () => {
  it('reads files in the order of their numbers', () => {
    withFiles({ '0002_b.sql': 'two', '0001_a.sql': 'one' }, (dir) => {
      assert.deepEqual(readMigrations(dir), [
        { number: 1, name: 'a', sql: 'one' },
        { number: 2, name: 'b', sql: 'two' },
      ]);
    });
  });

  it('refuses a file that is not a migration', () => {
    withFiles({ '1_a.sql': '' }, (dir) => {
      assert.throws(() => readMigrations(dir), { message: /found file "1_a.sql", expected/ });
    });
  });
});

function withFiles(files: Record<string, string>, body: (dir: string) => void): void {
  const dir = mkdtempSync(join(tmpdir(), 'ringback-migrate-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    body(dir);
  } finally {
    rmSync(dir, { recursive: true });
  }
}
