// On SQLite the machine's clock is the only one. It is set forward a day, rows are stored, and it
// is set back: pending deliveries must not wait for a day, neither at run time nor after a restart.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noControls, type Controls } from '../../src/core/domain/controls.ts';
import { withoutPrefix } from '../../src/core/base/id.ts';
import { adapterOn } from '../../src/store/sqlite/batch/adapter.ts';
import { prepareRebase } from '../../src/store/sqlite/upkeep/rebase-times.ts';
import { migratedMemory } from '../store/migrated-memory.ts';
import { startEngine, type Engine, type FakeSend, type Sqlite } from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

const dayMs = 86_400_000;
/** The store is polled at least this often, whatever a clock says. */
const pollMs = 10_000;
const waitMs = 5_000;

interface Stage {
  world: VirtualWorld;
  calls: string[];
  /** The receiver's answer from now on, and what happens before it. */
  answer: { status: number; before?: () => void };
  start: () => Promise<Engine>;
}

function stage(): Stage {
  const world = virtualWorld({ byte: 0x80 });
  const db = migratedMemory();
  const open = (): Sqlite => adapterOn(db, { rebase: prepareRebase(db) });
  const calls: string[] = [];
  const answer: Stage['answer'] = { status: 200 };
  const send: FakeSend = async (request, options) => {
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    calls.push(request.url);
    answer.before?.();
    const { status } = answer;
    return { kind: 'answered', status, headers: [], body: new Uint8Array(), cut: false };
  };
  return { world, calls, answer, start: async () => startEngine(world, open(), send) };
}

async function subscribe(engine: Engine, changes: Partial<Controls>): Promise<void> {
  const { store, defaultApp } = engine.context;
  const id = withoutPrefix('sub', await engine.subscribe()) ?? '';
  const seen = await store.read('subscription', { appNo: defaultApp.no, id });
  const { kind } = await store.edit('editSubscription', {
    appNo: defaultApp.no,
    id,
    version: seen?.version ?? 0,
    state: undefined,
    urls: [],
    secrets: undefined,
    chosen: { controls: { ...noControls, ...changes }, headers: undefined },
  });
  assert.equal(kind, 'edited');
}

/** Each holds deliveries back by a different stored time. */
const subscriptions: Readonly<Record<string, Partial<Controls>>> = {
  'a rate-limited lane': { ratePerSecond: 0.5, retryMs: [waitMs] },
  'an ordered lane': { ordered: true, retryMs: [waitMs] },
  'a retry': { retryMs: [waitMs] },
};

for (const [name, controls] of Object.entries(subscriptions)) {
  describe(`${name} whose times were stored by a clock a day ahead`, () => {
    it('goes on when the clock is set back', async () => {
      const { world, calls, answer, start } = stage();
      await using engine = await start();
      await subscribe(engine, controls);
      world.suspend(dayMs);
      answer.status = 500;
      await engine.publish();
      await world.settle();
      assert.equal(calls.length, 1);
      world.suspend(-dayMs);
      answer.status = 200;
      await engine.publish(); // The next batch notices the change.
      await world.pass(waitMs + 2 * pollMs);
      assert.equal(calls.length, 3, 'the retry and the new event');
      assert.deepEqual(engine.errors, []);
    });

    it('goes on after a restart', async () => {
      const { world, calls, answer, start } = stage();
      {
        await using engine = await start();
        await subscribe(engine, controls);
        world.suspend(dayMs);
        answer.status = 500;
        await engine.publish();
        await world.settle();
        assert.equal(calls.length, 1);
      }
      world.suspend(-dayMs);
      answer.status = 200;
      await using engine = await start();
      await engine.publish();
      await world.pass(waitMs + 2 * pollMs);
      assert.equal(calls.length, 3, 'the retry and the new event');
      const { store } = engine.context;
      const nodes = await store.read('nodes', {});
      assert.ok(nodes.every(({ seenMs }) => seenMs <= world.nowMs()));
    });
  });
}

describe('an attempt during which the clock is set back', () => {
  it('is followed by the next one after the usual wait', async () => {
    const { world, calls, answer, start } = stage();
    await using engine = await start();
    const retryMs = 6 * pollMs;
    await subscribe(engine, { retryMs: [retryMs] });
    world.suspend(dayMs);
    answer.status = 500;
    answer.before = () => world.suspend(-dayMs);
    await engine.publish();
    await world.settle();
    delete answer.before;
    await world.pass(retryMs - pollMs);
    assert.equal(calls.length, 1);
    await world.pass(2 * pollMs);
    assert.equal(calls.length, 2);
  });
});
