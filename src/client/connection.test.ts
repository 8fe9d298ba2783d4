import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertIdempotencyKey, connect, fillPath, readUrl, writeQuery } from './connection.ts';

const url = 'http://127.0.0.1:8080';

describe('connect', () => {
  it('refuses a key that is not a valid header value, without repeating it', () => {
    for (const key of ['', 'rbk_secret\n', 'rbk_secret\r\nX: y', 'rbk_secr€t', 'rbk secret', 'é']) {
      assert.throws(
        () => connect({ url, key }),
        ({ message }: Error) =>
          message.startsWith('Cannot use the key: ') && (key === '' || !message.includes(key)),
      );
      assert.throws(() => connect({ url, appId: key }), /Cannot use the appId/);
    }
  });

  it('refuses a key that is not a string: a missing key is undefined', () => {
    for (const json of ['null', '123', '["rbk_1"]']) {
      const given = JSON.parse(json);
      assert.throws(() => connect({ url, key: given }), /^TypeError: Cannot use the key: it is of/);
      assert.throws(() => connect({ url, appId: given }), /Cannot use the appId: it is of type/);
      assert.throws(() => assertIdempotencyKey(given), /as idempotencyKey/);
    }
  });

  it('sends key and app in headers, and no header without a value', () => {
    assert.deepEqual(connect({ url, key: 'rbk_1', appId: 'app_1' }).headers, {
      'x-api-key': 'rbk_1',
      'x-app-id': 'app_1',
    });
    assert.deepEqual(connect({ url }).headers, {});
  });

  it('refuses times and counts that make no sense', () => {
    for (const timeoutMs of [0, -1, Number.NaN, Infinity, 600_001]) {
      assert.throws(() => connect({ url, timeoutMs }), /as timeoutMs: expected 1 to 600000/);
    }
    for (const retries of [-1, 1.5, 21, Number.NaN]) {
      assert.throws(() => connect({ url, retries }), /as retries: expected 0 to 20/);
    }
  });
});

describe('assertIdempotencyKey', () => {
  it('accepts keys that arrive unchanged, and nothing else', () => {
    for (const key of ['a', 'order 42', 'x'.repeat(255)]) assertIdempotencyKey(key);
    for (const key of ['', ' a', 'a ', 'a\n', 'é', 'x'.repeat(256)]) {
      assert.throws(() => assertIdempotencyKey(key), /as idempotencyKey: expected 1 to 255/);
    }
  });
});

describe('readUrl', () => {
  it('keeps a path before the service and drops trailing slashes', () => {
    assert.equal(readUrl('http://127.0.0.1:8080'), 'http://127.0.0.1:8080');
    assert.equal(readUrl('https://a.example/'), 'https://a.example');
    assert.equal(readUrl('https://a.example/ring/back//'), 'https://a.example/ring/back');
    assert.equal(readUrl('HTTPS://A.example:443/x'), 'https://a.example/x');
  });

  it('refuses a value that is not an address of a service, without repeating a password', () => {
    assert.throws(() => readUrl('ringback'), /Cannot use "ringback" as url: expected one such as/);
    assert.throws(() => readUrl('ftp://a.example'), /scheme is "ftp", expected http or https/);
    assert.throws(() => readUrl('https://a.example/?x=1'), /a query or a fragment/);
    assert.throws(() => readUrl('https://a.example/?'), /a query or a fragment/);
    assert.throws(() => readUrl('https://a.example/#x'), /a query or a fragment/);
    assert.throws(
      () => readUrl('https://me:hush@a.example'),
      (error) =>
        error instanceof TypeError &&
        /"a.example": it contains a user name/.test(error.message) &&
        !error.message.includes('hush'),
    );
    for (const given of [
      'http://me:hush@h:99999',
      'http:me:hush@',
      'me:hush@a.example',
      'h:99999?key=hush',
      'http://h:99999/#hush',
    ]) {
      assert.throws(
        () => readUrl(given),
        ({ name, message }: Error) =>
          name === 'TypeError' && message.startsWith('Cannot use ') && !message.includes('hush'),
        given,
      );
    }
  });

  it('refuses values that are not strings', () => {
    for (const json of ['null', '7', '{}']) {
      assert.throws(
        () => readUrl(JSON.parse(json)),
        /^TypeError: Cannot use the url: it is of type/,
      );
    }
  });
});

describe('fillPath', () => {
  it('escapes a value, so that it stays one path segment', () => {
    assert.equal(
      fillPath('/keys/{id}/rotate', { id: 'a/b?c#d%20é' }),
      '/keys/a%2Fb%3Fc%23d%2520%C3%A9/rotate',
    );
    assert.equal(fillPath('/contracts/{title}', { title: 'My API' }), '/contracts/My%20API');
    assert.equal(fillPath('/keys/{id}', { id: '$&' }), '/keys/%24%26');
  });

  it('refuses values that would lead to another path', () => {
    for (const id of ['', '.', '..']) {
      assert.throws(() => fillPath('/keys/{id}', { id }), /expected a non-empty string/);
    }
    assert.throws(() => fillPath('/keys/{id}', {}), /Cannot use "undefined" as id/);
  });
});

describe('writeQuery', () => {
  it('leaves out what is undefined, and escapes the rest', () => {
    assert.equal(writeQuery({ a: undefined }, []), '');
    assert.equal(writeQuery({ a: 'x&y=z +', b: undefined, c: 5 }, []), '?a=x%26y%3Dz%20%2B&c=5');
    assert.equal(writeQuery({ a: '\ud800' }, []), '?a=%EF%BF%BD');
  });

  it('repeats the name of a list, or joins its values where the contract says so', () => {
    assert.equal(writeQuery({ a: ['x', 'y,z'] }, []), '?a=x&a=y%2Cz');
    assert.equal(writeQuery({ a: ['x', 'y,z'] }, ['a']), '?a=x,y%2Cz');
  });

  it('writes dates as the service reads them, and refuses values without a text form', () => {
    assert.equal(writeQuery({ from: new Date(0) }, []), '?from=1970-01-01T00%3A00%3A00.000Z');
    assert.throws(() => writeQuery({ from: {} }, []), /Cannot use a value of type object as from/);
    assert.throws(() => writeQuery({ from: null }, []), /as from/);
  });
});
