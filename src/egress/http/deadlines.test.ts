import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { World } from '../../core/base/world.ts';
import { Deadlines } from './deadlines.ts';

/** A clock that advances only when the test says so. */
function fakeWorld(): Pick<World, 'sleep' | 'monotonicMs'> & {
  go(ms: number): Promise<void>;
  sleepers(): number;
} {
  let nowMs = 1_000;
  const sleeping = new Set<{ dueMs: number; wake: () => void }>();
  return {
    monotonicMs: () => nowMs,
    sleep: async (ms, signal) =>
      new Promise((resolve, reject) => {
        const entry = { dueMs: nowMs + ms, wake: resolve };
        sleeping.add(entry);
        signal?.addEventListener('abort', () => {
          sleeping.delete(entry);
          reject(new Error('aborted'));
        });
      }),
    async go(ms) {
      nowMs += ms;
      for (const entry of sleeping) {
        if (entry.dueMs > nowMs) continue;
        sleeping.delete(entry);
        entry.wake();
      }
      await new Promise((resolve) => setImmediate(resolve));
    },
    sleepers: () => sleeping.size,
  };
}

function noting(log: string[], name: string): { expire(): void } {
  return { expire: () => void log.push(name) };
}

describe('Deadlines', () => {
  it('expires each deadline once, when its time is up and not before', async () => {
    const world = fakeWorld();
    const deadlines = new Deadlines(world);
    const log: string[] = [];
    deadlines.set(100, noting(log, 'a'));
    await world.go(50);
    deadlines.set(100, noting(log, 'b'));
    deadlines.set(20, noting(log, 'c'));
    await world.go(49);
    assert.deepEqual(log, ['c']);
    await world.go(1);
    assert.deepEqual(log, ['c', 'a']);
    await world.go(49);
    assert.deepEqual(log, ['c', 'a']);
    await world.go(1);
    await world.go(1_000);
    assert.deepEqual(log, ['c', 'a', 'b']);
    assert.equal(world.sleepers(), 0);
  });

  it('does not expire cleared deadlines, and sleeps once for all of one length', async () => {
    const world = fakeWorld();
    const deadlines = new Deadlines(world);
    const log: string[] = [];
    for (let i = 0; i < 100; i += 1) deadlines.clear(deadlines.set(100, noting(log, 'cleared')));
    deadlines.set(100, noting(log, 'kept'));
    assert.equal(world.sleepers(), 1);
    await world.go(100);
    await world.go(100);
    assert.deepEqual(log, ['kept']);
  });

  it('accepts a deadline of the same length from an owner that is being expired', async () => {
    const world = fakeWorld();
    const deadlines = new Deadlines(world);
    const log: string[] = [];
    deadlines.set(100, {
      expire: () => {
        log.push('first');
        deadlines.set(100, noting(log, 'second'));
      },
    });
    await world.go(100);
    assert.deepEqual(log, ['first']);
    await world.go(100);
    assert.deepEqual(log, ['first', 'second']);
  });

  it('sleeps again after it ran empty', async () => {
    const world = fakeWorld();
    const deadlines = new Deadlines(world);
    const log: string[] = [];
    deadlines.clear(deadlines.set(100, noting(log, 'a')));
    await world.go(100);
    assert.equal(world.sleepers(), 0);
    deadlines.set(100, noting(log, 'b'));
    await world.go(100);
    assert.deepEqual(log, ['b']);
  });

  it('drops all deadlines at close', async () => {
    const world = fakeWorld();
    const deadlines = new Deadlines(world);
    const log: string[] = [];
    deadlines.set(100, noting(log, 'a'));
    deadlines.close();
    assert.equal(world.sleepers(), 0);
    await world.go(200);
    assert.deepEqual(log, []);
  });
});
