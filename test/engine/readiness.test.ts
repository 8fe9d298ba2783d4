// How often the store is asked whether it works. What /readyz answers:
// test/api/silent-store.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { createReadiness, type Readiness } from '../../src/engine/cluster/readiness.ts';
import { frozenWorld, type FrozenWorld } from '../api/frozen-world.ts';
import { openMemory } from '../store/open-memory.ts';

interface Stage {
  world: FrozenWorld;
  readiness: () => Promise<Readiness>;
  /** How often the store was asked. */
  asked: () => number;
  /** How often it was written to. */
  wrote: () => number;
  be: (mood: Mood) => void;
  /** An unrelated batch could not be written. */
  fail: () => void;
}

type Mood = 'well' | 'down' | 'stale' | 'full';

function stage(): Stage {
  const world = frozenWorld();
  const { read } = openMemory();
  let [asked, wrote, failures] = [0, 0, 0];
  let mood: Mood = 'well';
  const readiness = createReadiness({
    world,
    store: {
      read: async (verb, input) => {
        asked += 1;
        if (mood === 'down') throw new Error('down');
        return read(verb, input);
      },
      edit: async (verb) => {
        assert.equal(verb, 'heartbeat');
        wrote += 1;
        if (mood === 'full') throw new Error('full');
        return { kind: 'alive' } as never;
      },
    },
    self: { isFresh: () => mood !== 'stale', no: () => 1 },
    failures: () => failures,
  });
  return {
    world,
    readiness,
    asked: () => asked,
    wrote: () => wrote,
    be: (next) => (mood = next),
    fail: () => (failures += 1),
  };
}

describe('readiness', () => {
  it('asks the store once for all probes within a moment', async () => {
    const { world, readiness, asked } = stage();
    await Promise.all(Array.from({ length: 100 }, async () => readiness()));
    world.advance(limits.readyKnownMs - 1);
    assert.deepEqual(await readiness(), { kind: 'ready' });
    assert.equal(asked(), 1);
    world.advance(1);
    await readiness();
    assert.equal(asked(), 2);
  });

  it('does not ask again while the store does not answer', async () => {
    const { world, readiness, asked } = stage();
    const first = readiness();
    world.advance(limits.readyKnownMs);
    await Promise.all([first, readiness()]);
    assert.equal(asked(), 1);
  });

  it('notices a store that fails, and one that recovers, a moment later', async () => {
    const { world, readiness, be } = stage();
    for (const mood of ['well', 'down', 'well'] as const) {
      be(mood);
      world.advance(limits.readyKnownMs);
      assert.equal((await readiness()).kind, mood === 'well' ? 'ready' : 'unready');
    }
  });

  it('notices a store that can be read but not written as soon as any write fails', async () => {
    const { world, readiness, be, fail } = stage();
    assert.equal((await readiness()).kind, 'ready');
    be('full');
    fail();
    world.advance(limits.readyKnownMs);
    const found = await readiness();
    assert.equal(found.kind === 'unready' && found.reason, 'the store is not accepting writes');
    be('well');
    world.advance(limits.readyKnownMs);
    assert.equal((await readiness()).kind, 'ready');
  });

  it('notices it some seconds later without any writes', async () => {
    const { world, readiness, be } = stage();
    assert.equal((await readiness()).kind, 'ready');
    be('full');
    world.advance(limits.writableKnownMs);
    assert.equal((await readiness()).kind, 'unready');
  });

  it('writes no more often than necessary', async () => {
    const { world, readiness, wrote } = stage();
    for (let ms = 0; ms < limits.writableKnownMs; ms += limits.readyKnownMs) {
      assert.equal((await readiness()).kind, 'ready');
      world.advance(limits.readyKnownMs);
    }
    assert.equal(wrote(), 1);
  });

  it('reports at once when the heartbeat is too old', async () => {
    const { readiness, be } = stage();
    assert.equal((await readiness()).kind, 'ready');
    be('stale');
    assert.equal((await readiness()).kind, 'unready');
  });
});
