// Statistics of subscriptions are written every ten seconds and at a stop, in a world whose clock
// the test moves.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { StatisticsWriter } from '../../src/engine/upkeep/statistics-writer.ts';
import { StoreUnavailable, type Store } from '../../src/store/port/store.ts';
import { virtualWorld } from './virtual-world.ts';

function stage(answer: (call: number) => Promise<{ written: number; isMore: boolean }>) {
  const world = virtualWorld();
  const written: number[] = [];
  const errors: unknown[] = [];
  const edit = async (verb: string): Promise<{ written: number; isMore: boolean }> => {
    assert.equal(verb, 'keepStatistics'); // The only verb that is called.
    written.push(world.monotonicMs());
    return answer(written.length);
  };
  const store = { edit } as unknown as Store;
  const writer = new StatisticsWriter({ store, world, onError: (error) => errors.push(error) });
  return { world, written, errors, writer };
}

const done = { written: 0, isMore: false };

describe('StatisticsWriter', () => {
  it('writes every ten seconds, and again at the end', async () => {
    const { world, written, writer } = stage(async () => done);
    await world.pass(25_000);
    assert.deepEqual(written, [limits.statisticsEveryMs, 2 * limits.statisticsEveryMs]);
    await writer[Symbol.asyncDispose]();
    assert.deepEqual(written.slice(2), [25_000]);
    await world.pass(60_000);
    assert.equal(written.length, 3);
  });

  it('goes on at once while there is more', async () => {
    const { world, written, writer } = stage(async (call) => ({ ...done, isMore: call < 3 }));
    await world.pass(limits.statisticsEveryMs);
    assert.deepEqual(written, [10_000, 10_000, 10_000]);
    await writer[Symbol.asyncDispose]();
  });

  it('tries again the next time if the store is unavailable', async () => {
    const { world, written, errors, writer } = stage(async () => {
      throw new StoreUnavailable('away');
    });
    await world.pass(20_000);
    assert.deepEqual(written, [10_000, 20_000]);
    assert.equal(errors.length, 2);
    await writer[Symbol.asyncDispose]();
  });

  it('does not delay a stop if the store does not answer', async () => {
    const { world, writer } = stage(async () => new Promise(() => undefined));
    const stopped = writer[Symbol.asyncDispose]();
    await world.pass(limits.storeAnswerMs);
    await stopped;
  });
});
