import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { isBusy, storeFailure, verbFailure } from './failure.ts';

const sqliteError = (errcode: number) =>
  Object.assign(new Error('it failed'), { code: 'ERR_SQLITE_ERROR', errcode });

describe('storeFailure', () => {
  it('treats a full, corrupt, locked or read-only database as unavailable', () => {
    for (const code of [5, 261, 517, 7, 8, 1032, 10, 266, 778, 11, 13, 14, 26]) {
      assert.equal(storeFailure(sqliteError(code))?.kind, 'unavailable', String(code));
    }
  });

  it('treats a failed fsync as fatal', () => {
    assert.equal(storeFailure(sqliteError(1034))?.kind, 'fatal');
    assert.equal(storeFailure(sqliteError(1290))?.kind, 'fatal');
  });

  it('treats a closed connection as unavailable', () => {
    const closed = Object.assign(new Error('not open'), { code: 'ERR_INVALID_STATE' });
    assert.equal(storeFailure(closed)?.kind, 'unavailable');
  });

  it('attributes violated constraints and program errors to the item', () => {
    for (const code of [1, 18, 19, 275, 787, 1299, 1555, 2067, 20, 25]) {
      assert.equal(storeFailure(sqliteError(code)), undefined, String(code));
    }
    assert.equal(storeFailure(new TypeError('bug')), undefined);
    assert.equal(storeFailure('thrown text'), undefined);
  });

  it('names the result code', () => {
    assert.equal(storeFailure(sqliteError(778))?.message, 'it failed (SQLite 778)');
  });
});

describe('verbFailure', () => {
  it('includes the verb and keeps the stack', () => {
    const failure = verbFailure('subscribe', sqliteError(19));
    assert.equal(failure.message, 'Cannot run "subscribe": it failed (SQLite 19)');
    assert.match(failure.trace, /failure\.test\.ts/);
  });
});

describe('isBusy', () => {
  it('recognises the extended codes too', () => {
    assert(isBusy(sqliteError(5)));
    assert(isBusy(sqliteError(261)));
    assert(!isBusy(sqliteError(6)));
    assert(!isBusy(new Error('x')));
  });
});
