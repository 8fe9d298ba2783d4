// How often the store is asked whether it is there. What /readyz answers: test/api/silent-store.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits.ts';
import { createReadiness, type Readiness } from '../../src/engine/readiness.ts';
import { frozenWorld, type FrozenWorld } from '../api/frozen-world.ts';
import { openMemory } from '../store/open-memory.ts';

interface Stage {
  world: FrozenWorld;
  readiness: () => Promise<Readiness>;
  /** How often the store was asked. */
  asked: () => number;
  be: (mood: 'well' | 'down' | 'stale') => void;
}

function stage(): Stage {
  const world = frozenWorld();
  const { read } = openMemory();
  let asked = 0;
  let mood = 'well';
  const readiness = createReadiness({
    world,
    store: {
      read: async (verb, input) => {
        asked += 1;
        if (mood === 'down') throw new Error('down');
        return read(verb, input);
      },
    },
    self: { isFresh: () => mood !== 'stale' },
  });
  return { world, readiness, asked: () => asked, be: (next) => (mood = next) };
}

describe('readiness', () => {
  it('asks the store once for all who come within a moment', async () => {
    const { world, readiness, asked } = stage();
    await Promise.all(Array.from({ length: 100 }, async () => readiness()));
    world.advance(limits.readyKnownMs - 1);
    assert.deepEqual(await readiness(), { kind: 'ready' });
    assert.equal(asked(), 1);
    world.advance(1);
    await readiness();
    assert.equal(asked(), 2);
  });

  it('does not ask again while the store says nothing', async () => {
    const { world, readiness, asked } = stage();
    const first = readiness();
    world.advance(limits.readyKnownMs);
    await Promise.all([first, readiness()]);
    assert.equal(asked(), 1);
  });

  it('hears of a store that went, and one that came back, a moment later', async () => {
    const { world, readiness, be } = stage();
    for (const mood of ['well', 'down', 'well'] as const) {
      be(mood);
      world.advance(limits.readyKnownMs);
      assert.equal((await readiness()).kind, mood === 'well' ? 'ready' : 'unready');
    }
  });

  it('says at once when the heartbeat is too old', async () => {
    const { readiness, be } = stage();
    assert.equal((await readiness()).kind, 'ready');
    be('stale');
    assert.equal((await readiness()).kind, 'unready');
  });
});
