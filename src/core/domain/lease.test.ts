import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { holderOf, leaseOf } from './lease.ts';

describe('leaseOf', () => {
  it('gives each claim a unique number that contains its holder', () => {
    const leases = [leaseOf(1, 1), leaseOf(1, 2), leaseOf(2, 1), leaseOf(2_000_000, 4_000_000_000)];
    assert.equal(new Set(leases).size, 4);
    assert.deepEqual(leases.map(holderOf), [1, 1, 2, 2_000_000]);
    assert.ok(leases.every((lease) => Number.isSafeInteger(lease)));
  });
});
