import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { DatabaseError } from 'pg';
import { failureKind, isConnectionLost, storeFailure, verbFailure } from './failure.ts';

function serverError(code: string, fields: Partial<DatabaseError> = {}): DatabaseError {
  return Object.assign(new DatabaseError('it failed', 9, 'error'), {
    code,
    severity: 'ERROR',
    ...fields,
  });
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:5432`), { code, syscall: 'connect' });
}

describe('failureKind', () => {
  it('classifies a lost, closing, full, read-only or slow database as unavailable', () => {
    const codes = ['08000', '08003', '08006', '08P01', '57P01', '57P02', '57P03', '57P04', '57P05'];
    for (const code of [...codes, '53100', '53200', '53300', '25006', '57014', '55P03', '25P03']) {
      assert.equal(failureKind(serverError(code)), 'unavailable', code);
    }
    for (const code of ['28P01', '28000', '3D000', '40003', '58030', 'XX001']) {
      assert.equal(failureKind(serverError(code)), 'unavailable', code);
    }
  });

  it("classifies broken sockets and the driver's errors about them as unavailable", () => {
    for (const code of [
      'ECONNREFUSED',
      'ECONNRESET',
      'EPIPE',
      'ETIMEDOUT',
      'ENOTFOUND',
      'EAI_AGAIN',
    ]) {
      assert.equal(failureKind(systemError(code)), 'unavailable', code);
    }
    const many = new AggregateError([systemError('ECONNREFUSED'), systemError('ECONNREFUSED')]);
    assert.equal(failureKind(many), 'unavailable');
    for (const message of [
      'Connection terminated unexpectedly',
      'Connection terminated',
      'Client has encountered a connection error and is not queryable',
      'Client was closed and is not queryable',
      'Query read timeout',
      'timeout expired',
    ]) {
      assert.equal(failureKind(new Error(message)), 'unavailable', message);
    }
  });

  it('recognizes errors after which the transaction may run again at once', () => {
    assert.equal(failureKind(serverError('40P01')), 'again');
    assert.equal(failureKind(serverError('40001')), 'again');
  });

  it('distinguishes a missing partition from a failed check, in any language', () => {
    const message = 'keine Partition von Relation »event« für die Zeile gefunden';
    assert.equal(
      failureKind(serverError('23514', { message, table: 'event' })),
      'missing_partition',
    );
    const check = { table: 'event', constraint: 'event_name_check' };
    assert.equal(failureKind(serverError('23514', check)), 'item');
  });

  it('takes a stale prepared statement as a sign of an unusable connection', () => {
    const changed = serverError('0A000', { routine: 'RevalidateCachedQuery' });
    for (const error of [changed, serverError('26000'), serverError('42P05')]) {
      assert.equal(failureKind(error), 'unavailable');
      assert(isConnectionLost(error));
    }
    assert.equal(failureKind(serverError('0A000')), 'item');
  });

  it('attributes failed constraints, bad data and bugs to the item', () => {
    for (const code of ['23502', '23503', '23505', '22001', '22P02', '22003', '42601', '42703']) {
      assert.equal(failureKind(serverError(code)), 'item', code);
    }
    for (const error of [new TypeError('bug'), 'thrown text', undefined, new Error('x')]) {
      assert.equal(failureKind(error), 'item');
    }
  });

  it('does not take an error of the program with a code for a server error', () => {
    assert.equal(
      failureKind(Object.assign(new Error('x'), { code: 'ERR_INVALID_ARG_TYPE' })),
      'item',
    );
    assert.equal(failureKind(Object.assign(new Error('x'), { code: '57P01' })), 'item');
  });
});

describe('isConnectionLost', () => {
  it('distinguishes a connection that has ended from one that can go on', () => {
    for (const code of ['57P01', '57P02', '08006', '25P03']) {
      assert(isConnectionLost(serverError(code)), code);
    }
    assert(isConnectionLost(systemError('ECONNRESET')));
    assert(isConnectionLost(new Error('Query read timeout')));
    for (const code of ['57014', '55P03', '53100', '40P01', '23505']) {
      assert(!isConnectionLost(serverError(code)), code);
    }
  });
});

describe('storeFailure', () => {
  it('names the code, and returns nothing for an item', () => {
    const failure = storeFailure(serverError('53100'));
    assert.equal(failure?.kind, 'unavailable');
    assert.equal(failure.message, 'it failed (PostgreSQL 53100)');
    for (const code of ['23505', '40001', '23514']) {
      assert.equal(storeFailure(serverError(code)), undefined, code);
    }
  });

  it('lists the error of each address', () => {
    const many = new AggregateError([systemError('ECONNREFUSED'), systemError('EHOSTUNREACH')]);
    assert.match(storeFailure(many)?.message ?? '', /ECONNREFUSED.*; .*EHOSTUNREACH/);
  });
});

describe('verbFailure', () => {
  it('names the verb and keeps the stack', () => {
    const failure = verbFailure('publish', serverError('23505'));
    assert.equal(failure.message, 'Cannot run "publish": it failed (PostgreSQL 23505)');
    assert.match(failure.trace, /failure\.test\.ts/);
  });
});
