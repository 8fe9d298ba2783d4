import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { cannotConnect, databaseName, refuseServer } from './cannot-open.ts';

const url = 'postgres://someone:hush@db.example:5433/ringback?sslmode=require&password=hush';

describe('databaseName', () => {
  it('shows user, host, port and name, and nothing else', () => {
    assert.equal(databaseName(url), 'postgres://someone@db.example:5433/ringback');
    assert.equal(databaseName('postgres://db.example/x'), 'postgres://db.example/x');
  });

  it('shows nothing of text that is not a URL', () => {
    assert.equal(databaseName('postgres://someone:hush@:bad:/x'), 'DATABASE_URL');
    assert.equal(databaseName('hush'), 'DATABASE_URL');
  });
});

describe('refuseServer', () => {
  it('accepts 14 to 18, and names an older version', () => {
    for (const versionNumber of [140_000, 150_018, 180_004]) {
      refuseServer(url, { versionNumber, encoding: 'UTF8' });
    }
    assert.throws(() => refuseServer(url, { versionNumber: 130_023, encoding: 'UTF8' }), {
      name: 'CannotOpenStore',
      message:
        'Cannot open "postgres://someone@db.example:5433/ringback": ' +
        'it is PostgreSQL 13, expected 14 or newer',
    });
  });

  it('accepts UTF-8 only, because payloads are bytes', () => {
    assert.throws(() => refuseServer(url, { versionNumber: 180_000, encoding: 'LATIN1' }), {
      name: 'CannotOpenStore',
      message: /its encoding is LATIN1, expected UTF8; create a database with encoding 'UTF8'/,
    });
  });
});

describe('cannotConnect', () => {
  it('adds advice to the message of the server', () => {
    const error = Object.assign(new Error('sorry, too many clients already'), {
      code: '53300',
      severity: 'FATAL',
    });
    assert.match(
      cannotConnect(url, error).message,
      /too many clients .*; the server has no free conn/,
    );
    assert.equal(cannotConnect(url, error).cause, error);
  });
});
