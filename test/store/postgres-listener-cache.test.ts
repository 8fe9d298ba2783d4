// Publishes that use cached callbacks: their events must reach every matching callback, even right after a change.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { limits } from '../../src/core/limits/limits.ts';
import type { Store } from '../../src/store/port/store.ts';
import { writeBatch } from '../../src/store/postgres/batch/write.ts';
import { WroteNothing } from '../../src/store/postgres/connection/failure.ts';
import type { Tx } from '../../src/store/postgres/connection/tx.ts';
import { createListenerCache } from '../../src/store/postgres/publish/match.ts';
import { createSlices } from '../../src/store/postgres/publish/slices.ts';
import { createSweep } from '../../src/store/postgres/upkeep/sweep.ts';
import { createStalledFanOuts } from '../../src/store/rules/fan-outs.ts';
import { createPendingStatistics } from '../../src/store/statistics/pending-statistics.ts';
import { fc, seed } from '../fast-check.ts';
import { openStage, world, type Stage } from './postgres-stage.ts';

/** After this many publishes, the cache is used. */
const often = limits.listenerCacheSteadyTimes + 1;

let stage: Stage;
before(async () => {
  stage = await openStage();
});
after(async () => stage[Symbol.asyncDispose]());

/** Deliveries are inserted leased, and so do not change their lanes. */
const room = { lease: 1, room: 8, free: new Map(), inFlight: new Map(), laneRoom: 8 };

/** A node that publishes this event, one transaction at a time. */
function publisherOf(event: string) {
  const memory = {
    slices: createSlices(),
    sweep: createSweep(),
    pending: createPendingStatistics(),
  };
  const listenerCache = createListenerCache();
  const write = async (tx: Tx) => {
    const input = stage.publishing(event);
    const context = { nowMs: world.nowMs(), givenMs: null, writer: 1, listenerCache, ...memory };
    const edits = [{ verb: 'publish', input } as const];
    const stalled = createStalledFanOuts();
    return writeBatch(tx, { edits, offer: room, stalled, world, context }, 'together');
  };
  const publish = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i += 1) await stage.once(async (tx) => (await write(tx)).whole);
  };
  return { write, publish };
}

async function written(event: string): Promise<{ events: number; made: number; counted: number }> {
  const [row] = await stage.database.query(
    `select count(distinct id)::int as events, count(event)::int as made,
       (select coalesce(sum(made), 0)::int from ringback.stat_app) as counted
     from ringback.event left join ringback.delivery_live on event = id where name = $1`,
    [event],
  );
  return {
    events: Number(row?.['events']),
    made: Number(row?.['made']),
    counted: Number(row?.['counted']),
  };
}

describe('a publish whose callbacks have not changed for some time', () => {
  it('is sent before the database has confirmed them', async () => {
    await stage.subscribe('sent.before');
    const { write, publish } = publisherOf('sent.before');
    await publish(often);
    const shut = await stage.begin();
    await shut.tx.query('lock table lane', []);
    const step = await stage.begin();
    const { whole } = await write(step.tx); // It cannot get a response yet.
    await stage.untilSomebodyWaits(1);
    await shut.rollback();
    const [reply] = (await whole)?.replies ?? [];
    assert(reply?.kind === 'done');
    await step.commit();
    const { events, made } = await written('sent.before');
    assert.deepEqual({ events, made }, { events: often + 1, made: often + 1 });
  });

  it('writes nothing if they have changed, and is then repeated with the current ones', async () => {
    await stage.subscribe('others.hear');
    const { write, publish } = publisherOf('others.hear');
    await publish(often);
    const before_ = await written('others.hear');
    await stage.subscribe('others.hear');
    const step = await stage.begin();
    const { whole } = await write(step.tx);
    await assert.rejects(async () => whole, WroteNothing);
    await step.commit();
    assert.deepEqual(await written('others.hear'), before_);
    await publish(1);
    assert.deepEqual(await written('others.hear'), {
      events: before_.events + 1,
      made: before_.made + 2,
      counted: before_.counted + 2,
    });
  });

  it('writes nothing if a lane setting has changed', async () => {
    const { lane } = await stage.subscribe('lane.changes');
    const { write, publish } = publisherOf('lane.changes');
    for (const change of laneChanges) {
      await publish(often + 2);
      await stage.database.query(`update ringback.lane set ${change} where no = $1`, [lane]);
      const step = await stage.begin();
      const { whole } = await write(step.tx);
      await assert.rejects(async () => whole, WroteNothing, change);
      await step.commit();
    }
  });

  it('reaches all matching callbacks, whatever another node changes in between', async () => {
    const publisher = await stage.node();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 4, maxLength: 12 }), async (changes) => {
        run += 1;
        const name = `told.${run}`;
        const listening: string[] = [];
        for (const { what, times } of changes) {
          if (what === 'subscribe') listening.push((await stage.subscribe(name)).id);
          else if (listening.length > 0) await end(stage.store, listening.shift() ?? '');
          for (let i = 0; i < times; i += 1) {
            const reply = await publisher.edit('publish', stage.publishing(name));
            assert(reply.kind === 'accepted');
            assert.deepEqual(
              reply.events.map(({ deliveries }) => deliveries),
              [listening.length],
            );
          }
        }
        const [counted] = await stage.database.query(
          `select count(*) filter (where event.deliveries is distinct from made.n)::int as wrong
           from ringback.event left join lateral (
             select (select count(*) from ringback.delivery_live where event = id)
               + (select count(*) from ringback.delivery_done where event = id) as n) made on true
           where name = $1`,
          [name],
        );
        assert.equal(counted?.['wrong'], 0);
      }),
      { seed, numRuns: 12 },
    );
  });
});

/** A change of each column. */
const laneChanges = [
  'state = 1',
  'state = 0',
  'version = version + 1',
  'failures = 1',
  'failing_ms = 1',
  'tat_ms = 0.5',
  'concurrency = 3',
  'interval_ms = 0.5',
  'gate_ms = 1',
  'ready_ms = ready_ms + 1',
  'ordered = 1',
];

const change = fc.record({
  what: fc.constantFrom('subscribe', 'subscribe', 'end'),
  // Without a room, the first publish wakes its lanes, so it takes two more.
  times: fc.constantFrom(0, 1, often, often + 2, often + 3),
});

async function end(store: Store, id: string): Promise<void> {
  const reply = await store.edit('unsubscribe', { appNo: stage.appNo, id });
  assert.equal(reply.kind, 'ended');
}
