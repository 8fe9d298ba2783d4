// Tabs share one cookie: no tab may continue with a session that has ended or changed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { follow, signedOut } from '../../console/src/other-tab.ts';

const signedIn = { kind: 'in', session: { keyId: 'key_1' } } as const;

describe('follow', () => {
  it('reloads if the cookie now belongs to another key', () => {
    assert.equal(follow(signedIn, 'key_2'), 'reload');
    assert.equal(follow(signedIn, 'key_1'), 'stay');
  });
  it('asks the service before signing out', () => {
    assert.equal(follow(signedIn, signedOut), 'read');
    assert.equal(follow({ kind: 'out' }, signedOut), 'stay');
  });
  it('signs in when another tab did', () => {
    assert.equal(follow({ kind: 'out' }, 'key_1'), 'read');
  });
  it('ignores other tabs before its first response, and cleared storage', () => {
    assert.equal(follow({ kind: 'unknown' }, 'key_1'), 'stay');
    assert.equal(follow(signedIn, undefined), 'stay');
  });
});
