import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attemptErrors } from './attempt.ts';
import { endings, explain, failures, statusFailures } from './failures.ts';

describe('explain', () => {
  it('explains every error and every ending', () => {
    for (const error of [...attemptErrors, ...endings]) {
      assert.equal(explain({ error }), failures[error]);
    }
  });

  it('explains known statuses in detail, and any other by its class', () => {
    assert.equal(explain({ error: 'status', status: 503 }), statusFailures['503']);
    assert.equal(explain({ error: 'status', status: 418 }), statusFailures['4xx']);
    assert.equal(explain({ error: 'status', status: 599 }), statusFailures['5xx']);
    assert.equal(explain({ status: 404 }), statusFailures['404']);
    assert.equal(explain({ error: 'status', status: 999 }), failures.status);
    assert.equal(explain({ error: 'redirect', status: 301 }), failures.redirect);
  });

  it('prefers a named error to a status, and a status to an unknown name', () => {
    assert.equal(explain({ error: 'timeout', status: 500 }), failures.timeout);
    assert.equal(explain({ error: 'constructor', status: 500 }), statusFailures['500']);
    assert.equal(explain({ error: 'constructor' }), undefined);
  });

  it('says nothing about a success', () => {
    assert.equal(explain({ status: 200 }), undefined);
    assert.equal(explain({}), undefined);
  });
});

describe('the catalogue', () => {
  it('uses short sentences', () => {
    for (const [name, failure] of Object.entries({ ...failures, ...statusFailures })) {
      const { title, ...sentences } = failure;
      assert.match(title, /^[A-Z0-9].*[^.]$/, name);
      assert.ok(title.length <= 60, name);
      for (const text of Object.values(sentences)) {
        assert.match(text, /^[A-Z].*\.$/s, name);
        assert.ok(text.length <= 200, `${name}: ${text}`);
      }
    }
  });
});
