import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import { killRounds, setUp } from './kill.ts';

/** Printed with every failure. SEED=… selects another one, and `npm run soak` draws a random one. */
const seed = Number(process.env['SEED'] ?? 1);

describe('kill -9 under load', () => {
  it('loses no acknowledged event and changes no byte in 10 rounds', async (t) => {
    const report = await killRounds(10, seed);
    t.diagnostic(JSON.stringify(report));
    assert.ok(report.accepted > 100, 'there was a load');
    assert.ok(report.duplicates <= report.kills * limits.windowMax, JSON.stringify(report));
  });
});

describe('SIGTERM', () => {
  it('under load causes no loss and no duplicates, and exits with 0', async (t) => {
    await using stage = await setUp(seed, async (random) => {
      if (random() < 0.1) return 500;
      await wait(random() * 60);
      return 200;
    });
    for (let round = 0; round < 3; round += 1) {
      await stage.start();
      if (round < 2) await stage.subscribe();
      await stage.load(async () => {
        await stage.answered.reach(stage.answered.count + 60);
        const startMs = performance.now();
        assert.equal(await stage.end('SIGTERM'), 0, `seed ${seed}`);
        const tookMs = performance.now() - startMs;
        assert.ok(tookMs < limits.stopTimeoutMs, `it took ${tookMs} ms, seed ${seed}`);
      });
    }
    await stage.start();
    await stage.drain();
    assert.equal(await stage.check(), 0, `every stored event was acknowledged, seed ${seed}`);
    const report = stage.report(0);
    t.diagnostic(JSON.stringify(report));
    assert.equal(report.duplicates, 0, `seed ${seed}`);
  });

  it('ends the process at once the second time, and deliveries in flight are sent again', async () => {
    const hanging = Promise.withResolvers<200>();
    await using stage = await setUp(seed, async () => hanging.promise);
    const serving = await stage.start();
    await stage.subscribe();
    await stage.load(async () => stage.answered.reach(5));
    serving.signal('SIGTERM');
    await serving.says(/Stopping/);
    assert.equal(await stage.end('SIGTERM'), 'SIGTERM');
    hanging.resolve(200);
    await stage.start();
    await stage.drain();
    await stage.check();
  });
});
