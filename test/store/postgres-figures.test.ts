// Figures of apps on PostgreSQL: publishes and outcomes count beside each other.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { openPostgres } from '../../src/store/postgres/transport.ts';
import { openStage, world, type Stage } from './postgres-stage.ts';
import { settlementOf } from './settlement.ts';

const lease = 2 ** 32 + 1;
const offer = { lease, room: 8, free: new Map(), underWay: new Map(), laneRoom: 8 };

describe('figures of an app, on PostgreSQL', () => {
  it('let nobody wait: a publish is written while outcomes that were counted are not committed', async () => {
    await using stage = await openStage();
    await stage.subscribe('one');
    await using node = await openNode(stage);
    await node.settle(await node.publish());
    // The row that outcomes count in, held as by a transaction of theirs that waits for its commit.
    const outcomes = await stage.begin();
    const held = await outcomes.tx.query(
      'update stat_app set delivered = delivered + 1 where delivered > 0 returning delivered',
      [],
    );
    assert.deepEqual(held, [{ delivered: 2 }]);
    await node.publish();
    await outcomes.rollback();
    const [sum] = await stage.database.query(
      `select sum(published)::int as published, sum(made)::int as made, sum(delivered)::int as delivered,
         sum(l0 + l1 + l2 + l3 + l4 + l5 + l6 + l7 + l8 + l9 + l10 + l11 + l12)::int as took
       from ringback.stat_app`,
    );
    assert.deepEqual({ ...sum }, { published: 2, made: 2, delivered: 1, took: 1 });
  });
});

type Born = { event: string; n: number };

async function openNode(
  stage: Stage,
): Promise<AsyncDisposable & { publish(): Promise<Born>; settle(born: Born): Promise<void> }> {
  const { url } = stage.database;
  const way = await openPostgres({ url, world, onHeard: () => undefined });
  return {
    publish: async () => {
      const edits = [{ verb: 'publish', input: stage.publishing('one') } as const];
      const reply = await way.send({ nowMs: world.nowMs(), settlements: [], edits, offer });
      assert(reply.kind === 'written' && reply.born[0] !== undefined, JSON.stringify(reply));
      return reply.born[0];
    },
    settle: async ({ event, n }) => {
      const settlements = [settlementOf({ event, n, lease }, 'delivered', 0)];
      const work = { nowMs: world.nowMs(), settlements, claim: undefined, fanOut: undefined };
      const reply = await way.work(work);
      assert.equal(reply.kind, 'worked');
    },
    [Symbol.asyncDispose]: async () => way.close(),
  };
}
