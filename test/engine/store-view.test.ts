// What a scrape needs from the store: read once for all scrapers, cached briefly, given up after a
// deadline.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { Deadlines } from '../../src/egress/http/deadlines.ts';
import {
  createStoreViewReader,
  type StoreViewReader,
} from '../../src/engine/telemetry/store-view.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openMemory } from '../store/open-memory.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

interface Stage {
  world: VirtualWorld;
  reader: StoreViewReader;
  /** How often gauges were read. */
  asked: () => number;
  errors: unknown[];
  /** From now on reads wait for this promise. */
  hold: (until: Promise<void>) => void;
}

function stage(): Stage {
  const world = virtualWorld();
  const { read, clock } = openMemory();
  let asked = 0;
  let held = Promise.resolve();
  const store: Pick<Store, 'read' | 'nowMs'> = {
    read: async (verb, input) => {
      if (verb === 'gauges') asked += 1;
      await held;
      return read(verb, input);
    },
    nowMs: () => clock.ms,
  };
  const errors: unknown[] = [];
  const reader = createStoreViewReader({
    world,
    store,
    deadlines: new Deadlines(world),
    database: { dataDir: ':memory:' },
    onError: (error) => errors.push(error),
  });
  return {
    world,
    reader,
    asked: () => asked,
    errors,
    hold: (until) => {
      held = until;
    },
  };
}

describe('createStoreViewReader', () => {
  it('reads once for concurrent scrapes, and then not for a second', async () => {
    const { reader, asked, world } = stage();
    const views = await Promise.all(Array.from({ length: 20 }, async () => reader.read()));
    assert.equal(new Set(views).size, 1);
    assert.deepEqual(views[0]?.laneScan?.lanes.open, 0);
    await world.pass(limits.scrapeKeepMs - 1);
    await reader.read();
    assert.equal(asked(), 1);
    await world.pass(1);
    await reader.read();
    assert.equal(asked(), 2);
  });

  it('returns nothing if the store is too slow, and does not read again meanwhile', async () => {
    const { reader, asked, world, hold } = stage();
    const answer = Promise.withResolvers<void>();
    hold(answer.promise);
    for (let scrape = 0; scrape < 3; scrape += 1) {
      const looking = reader.read();
      await world.pass(limits.scrapeAnswerMs);
      assert.equal(await looking, undefined);
    }
    assert.equal(asked(), 1);
    hold(Promise.resolve());
    const looking = reader.read();
    answer.resolve();
    assert.notEqual(await looking, undefined, 'it recovers by itself');
  });

  it('returns nothing if the store fails, and reports the error', async () => {
    const { reader, errors, hold } = stage();
    const down = Promise.reject(new Error('down'));
    down.catch(() => undefined);
    hold(down);
    assert.equal(await reader.read(), undefined);
    assert.match(String(errors[0]), /down/);
    hold(Promise.resolve());
    assert.notEqual(await reader.read(), undefined);
  });
});
