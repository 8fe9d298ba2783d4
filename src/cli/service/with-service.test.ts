import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RingbackError, UnreachableError } from '../../client/client.ts';
import { CliFailure } from '../terminal/failure.ts';
import { explained } from './with-service.ts';

const url = 'http://127.0.0.1:8080';

function refused(status: number, code: string, detail = 'Why.', errors?: object[]): CliFailure {
  const problem = { type: '', title: '', status, code, detail, requestId: 'req_1', errors };
  const refusal = { status, code, detail, requestId: 'req_1', retryAfterS: undefined };
  const error = new RingbackError('POST /events', { ...refusal, problem: problem as never });
  const failure = explained(error, url);
  assert.ok(failure instanceof CliFailure);
  assert.deepEqual([failure.code, failure.status, failure.exitCode], [code, status, 1]);
  return failure;
}

describe('explained', () => {
  it('promises that nothing was done only if the service does', () => {
    assert.match(refused(429, 'rate_limited').message, /^Why\.\nNothing was changed\. Try again/);
    assert.match(refused(503, 'overloaded').message, /Nothing was changed/);
    assert.match(
      refused(503, 'store_unavailable').message,
      /may still have been processed: check before/,
    );
    assert.doesNotMatch(refused(429, 'quota_exceeded').message, /Try again/);
  });

  it('suggests what to do in all other cases', () => {
    assert.match(refused(500, 'internal').message, /report it with the request id req_1/);
    assert.match(refused(302, 'redirected').message, /Is this the address of Ringback\?/);
    const scope = 'x needs the scope "admin", the key has: read';
    const { message } = refused(403, 'missing_scope', scope);
    assert.match(message, /console.*POST \/keys[^]*stopped[^]*--scopes admin$/);
    assert.match(refused(401, 'unauthorized').message, /console.*POST \/keys.*stopped.*key create/);
    assert.equal(refused(409, 'conflict').message, 'Why.');
  });

  it('lists faults that the detail does not mention, up to a limit', () => {
    const fault = (at: number): object => ({ field: `body#/${at}`, message: `is wrong ${at}` });
    const errors = Array.from({ length: 12 }, (_, at) => fault(at));
    const { message } = refused(400, 'invalid_request', 'body#/0 is wrong 0.', errors);
    const lines = message.split('\n');
    assert.equal(lines[1], '  body#/1: is wrong 1');
    assert.equal(lines.at(-1), '  and 1 more');
  });

  it('distinguishes calls that may have happened from those that cannot have', () => {
    const unreached = (action: string, why: string): string => {
      const failure = explained(new UnreachableError(action, { url, why, cause: undefined }), url);
      assert.ok(failure instanceof CliFailure);
      return failure.message;
    };
    const post = 'POST /events';
    assert.match(
      unreached(post, 'fetch failed: connect ECONNREFUSED'),
      /^Cannot reach Ringback at http:\/\/127\.0\.0\.1:8080: connect ECONNREFUSED\nIs it running\?/,
    );
    assert.doesNotMatch(unreached(post, 'connect ECONNREFUSED'), /may still have been processed/);
    assert.doesNotMatch(
      unreached('GET /events', 'it took too long'),
      /may still have been processed/,
    );
    assert.match(
      unreached(post, 'it took too long'),
      /may still have been processed: check before you repeat it/,
    );
  });

  it('leaves other errors unchanged', () => {
    const bug = new TypeError('a bug');
    assert.equal(explained(bug, url), bug);
  });
});
