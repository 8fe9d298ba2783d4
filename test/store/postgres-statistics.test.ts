// Statistics of apps on PostgreSQL: publishes and outcomes are counted concurrently.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { bucketCount } from '../../src/core/telemetry/statistics.ts';
import type { EditInput } from '../../src/store/port/store.ts';
import { openPostgres } from '../../src/store/postgres/batch/adapter.ts';
import { openStage, world, type Stage } from './postgres-stage.ts';
import { settlementOf } from './settlement.ts';
import { callback, newApp, newSubscription } from './subject.ts';

const lease = 2 ** 32 + 1;
const offer = { lease, room: 8, free: new Map(), inFlight: new Map(), laneRoom: 8 };

describe('statistics of an app, on PostgreSQL', () => {
  it('do not block: a publish is written while counted outcomes are uncommitted', async () => {
    await using stage = await openStage();
    await stage.subscribe('one');
    await using node = await openNode(stage);
    await node.settle(await node.publish());
    // Lock the row that outcomes are counted in, as if their transaction waited for its commit.
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
         sum(${took})::int as took
       from ringback.stat_app`,
    );
    assert.deepEqual({ ...sum }, { published: 2, made: 2, delivered: 1, took: 1 });
  });

  it('are separate for each app if outcomes of two apps are written together', async () => {
    await using stage = await openStage();
    const other = await newApp(stage.store);
    await stage.subscribe('one');
    const subscription = newSubscription(other, { callbacks: [callback(0, 'one')] });
    await stage.store.edit('subscribe', { subscription, idempotency: undefined });
    await using node = await openNode(stage);
    const mine = [await node.publish(), await node.publish()];
    await node.settle(...mine, await node.publish({ appNo: other.no }));
    const rows = await stage.database.query(
      `select app::int, sum(delivered)::int as delivered, sum(${took})::int as took
       from ringback.stat_app group by app order by app`,
    );
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      [
        { app: stage.appNo, delivered: 2, took: 2 },
        { app: other.no, delivered: 1, took: 1 },
      ],
    );
  });
});

/** The sum over all duration buckets of attempts. */
const took = Array.from({ length: bucketCount }, (_, bucket) => `l${bucket}`).join(' + ');

type FreshDelivery = { event: string; n: number };

interface Node extends AsyncDisposable {
  publish(more?: Partial<EditInput<'publish'>>): Promise<FreshDelivery>;
  settle(...fresh: readonly FreshDelivery[]): Promise<void>;
}

async function openNode(stage: Stage): Promise<Node> {
  const { url } = stage.database;
  const way = await openPostgres({ url, world, onNotified: () => undefined });
  return {
    publish: async (more) => {
      const edits = [{ verb: 'publish', input: stage.publishing('one', more) } as const];
      const reply = await way.send({ nowMs: world.nowMs(), settlements: [], edits, offer });
      assert(reply.kind === 'written' && reply.fresh[0] !== undefined, JSON.stringify(reply));
      return reply.fresh[0];
    },
    settle: async (...fresh) => {
      const settlements = fresh.map(({ event, n }) =>
        settlementOf({ event, n, lease }, 'delivered', 0),
      );
      const work = { nowMs: world.nowMs(), settlements, claim: undefined, fanOut: undefined };
      const reply = await way.work(work);
      assert.equal(reply.kind, 'worked');
    },
    [Symbol.asyncDispose]: async () => way.close(),
  };
}
