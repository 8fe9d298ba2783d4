// Unreadable fan-outs on PostgreSQL, which only corruption can cause: each must only affect itself.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { timeOf } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { WorkReply } from '../../src/store/port/transport-protocol.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import { openPostgres } from '../../src/store/postgres/batch/adapter.ts';
import { openStage, world, type Stage } from './postgres-stage.ts';

const offer: Offer = { lease: 1, room: 0, free: new Map(), inFlight: new Map(), laneRoom: 0 };
const lanes = limits.callbacksPerSubscriptionMax;
const dayMs = 24 * 60 * 60 * 1000;
const listeners = Math.ceil((limits.targetsAtOnceMax + 1) / lanes) * lanes;

describe('an unreadable fan-out, on PostgreSQL', () => {
  it('is skipped and kept, while the others are processed', async () => {
    await using stage = await openStage();
    const publish = await crowd(stage);
    const [poison, sound] = [await publish(), await publish()];
    const spoil = `update ringback.fanout set names = '{"no":"list"}' where event = $1`;
    await stage.database.query(spoil, [poison]);
    const failures = await fanOutAll(stage);
    assert.deepEqual(failures.length, 1);
    assert.match(failures[0] ?? '', new RegExp(`"${poison}".*its names are no list`));
    assert.deepEqual(await rowsOf(stage, 'select event from ringback.fanout'), [poison]);
    assert.deepEqual(await made(stage), { [sound]: listeners });
  });

  it('does not block retention, which deletes its event', async () => {
    await using stage = await openStage();
    const publish = await crowd(stage);
    const poison = await publish();
    await stage.database.query(`update ringback.fanout set names = '{"no":"list"}'`);
    await using way = await open(stage);
    assert.notEqual((await way.step()).fannedOut.failure, undefined);
    await way.retain(timeOf(poison) + 2 * dayMs);
    assert.deepEqual(await rowsOf(stage, 'select event from ringback.fanout'), []);
    assert.deepEqual(await rowsOf(stage, 'select id as event from ringback.event'), []);
  });

  it('rolls back its step', async () => {
    await using stage = await openStage();
    const publish = await crowd(stage);
    const poison = await publish();
    // The next step would start with a delivery that already exists.
    await using way = await open(stage);
    await way.step();
    await stage.database.query('update ringback.fanout set made = made - 1');
    const before = await made(stage);
    assert.match((await way.step()).fannedOut.failure ?? '', new RegExp(poison));
    assert.deepEqual(await made(stage), before);
  });
});

/** Enough callbacks that every event is fanned out in steps. */
async function crowd(stage: Stage): Promise<() => Promise<string>> {
  for (let has = 0; has < listeners; has += lanes) await stage.subscribe('all', lanes);
  return async () => {
    const output = await stage.store.edit('publish', stage.publishing('all'));
    assert(output.kind === 'accepted' && output.events[0] !== undefined);
    return output.events[0].id;
  };
}

type Worked = Extract<WorkReply, { kind: 'worked' }>;

interface PoisonStage extends AsyncDisposable {
  step: () => Promise<Worked>;
  retain: (beforeMs: number) => Promise<unknown>;
}

async function open(stage: Stage): Promise<PoisonStage> {
  const { url } = stage.database;
  const way = await openPostgres({ url, world, onNotified: () => undefined });
  return {
    step: async () => {
      const nothing = { settlements: [], claim: undefined };
      const reply = await way.work({ nowMs: world.nowMs(), ...nothing, fanOut: offer });
      assert(reply.kind === 'worked');
      return reply;
    },
    retain: async (beforeMs) => way.retain({ beforeMs, limit: 500 }),
    [Symbol.asyncDispose]: async () => way.close(),
  };
}

/** Runs fan-out steps until none is possible. */
async function fanOutAll(stage: Stage): Promise<string[]> {
  await using way = await open(stage);
  const failures: string[] = [];
  for (let steps = 0; ; steps += 1) {
    assert(steps < 20, 'A fan-out is tried for ever');
    const { fannedOut } = await way.step();
    if (fannedOut.failure !== undefined) failures.push(fannedOut.failure);
    if (!fannedOut.isMore) return failures;
  }
}

async function rowsOf(stage: Stage, sql: string): Promise<unknown[]> {
  return (await stage.database.query(sql)).map(({ event }) => event);
}

async function made(stage: Stage): Promise<Record<string, number>> {
  const rows = await stage.database.query(
    'select event, count(*)::int as made from ringback.delivery_live group by event',
  );
  return Object.fromEntries(rows.map(({ event, made: count }) => [String(event), Number(count)]));
}
