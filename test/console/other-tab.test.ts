// Tabs share one cookie: none of them may go on as somebody who is not signed in any more.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { follow, signedOut } from '../../console/src/other-tab.ts';

const signedIn = { kind: 'in', session: { keyId: 'key_1' } } as const;

describe('follow', () => {
  it('reloads where the cookie is that of another key now', () => {
    assert.equal(follow(signedIn, 'key_2'), 'reload');
    assert.equal(follow(signedIn, 'key_1'), 'stay');
  });
  it('asks the service before it believes that the session is over', () => {
    assert.equal(follow(signedIn, signedOut), 'read');
    assert.equal(follow({ kind: 'out' }, signedOut), 'stay');
  });
  it('enters when another tab has', () => {
    assert.equal(follow({ kind: 'out' }, 'key_1'), 'read');
  });
  it('waits for its own first answer, and minds no storage that was cleared', () => {
    assert.equal(follow({ kind: 'unknown' }, 'key_1'), 'stay');
    assert.equal(follow(signedIn, undefined), 'stay');
  });
});
