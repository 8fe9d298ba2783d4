// Lost wake-ups under load: many concurrent transactions on a real PostgreSQL repeatedly hit, by chance, the interleavings
// that postgres-hazards-wakeup.test.ts tests step by step.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { never } from '../../src/core/domain/lane.ts';
import type { Settlement } from '../../src/store/port/delivery-verbs.ts';
import { rescue } from '../../src/store/postgres/cluster/nodes.ts';
import type { Tx } from '../../src/store/postgres/connection/tx.ts';
import { claimSql } from '../../src/store/postgres/deliver/claim.ts';
import { settleAll } from '../../src/store/postgres/deliver/settle.ts';
import { createSweep } from '../../src/store/postgres/upkeep/sweep.ts';
import { retryDelivery } from '../../src/store/verbs/deliveries/retry-delivery.ts';
import { unsubscribe } from '../../src/store/verbs/subscriptions/end-subscription.ts';
import { keepApart } from '../postgres/shared-server.ts';
import { claimOn, openStage, publishOn, until, world, type Stage } from './postgres-stage.ts';
import { settlementOf } from './settlement.ts';

const sweep = createSweep();

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };
const publishers = 8;
const holdMaxMs = 30;
/** Short, so that lanes close often. */
const lingerMs = { least: 2, most: 50 };

/** A lease of a node that does not exist, so that a recovery releases it. */
const deadLease = 999 * 2 ** 32;

keepApart();

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('publishes that commit late', net, () => {
  it('are all delivered, and no lane with a pending delivery is ever closed', async (t) => {
    const events = upTo(30).map((i) => `l${i}`);
    for (const event of events) await stage.subscribe(event);
    const rounds = [...events, ...events];
    const counts = { closed: 0, forgotten: 0, freed: 0, back: 0, again: 0 };
    const work = { isPublishing: true, isClaiming: true };
    const publishing = Promise.all(
      // Several publish to about the same lane, so that it is already ready for the second one.
      upTo(publishers).map(async () => {
        for (const event of rounds) {
          await publishLate(event);
          await assertNothingForgotten();
        }
      }),
    ).then(() => (work.isPublishing = false));
    const claiming = Promise.all(upTo(2).map(async () => claimOnAndOn(work, counts))).then(
      () => (work.isClaiming = false),
    );
    await Promise.all([publishing, claiming, rescueOnAndOn(work, counts)]);
    t.diagnostic(JSON.stringify(counts));
    const { due, running, delivered } = await stage.store.read('tally', {});
    assert.deepEqual({ due, running }, { due: 0, running: 0 });
    assert.equal(delivered, publishers * rounds.length + counts.again);
    assert(
      Object.values(counts).every((count) => count > 0),
      JSON.stringify(counts),
    );
  });

  it('into lanes that end meanwhile are all cancelled', async (t) => {
    const lanes = await Promise.all(upTo(40).map(async (i) => stage.subscribe(`l${i}`)));
    const work = { isPublishing: true };
    let made = 0;
    const met = lanes.map(() => ({ publishes: 0, enough: Promise.withResolvers<void>() }));
    const publishing = Promise.all(
      upTo(publishers).map(async () => {
        for (const [i, { enough }] of met.entries()) {
          const count = await publishLate(`l${i}`, () => {
            const lane = met[i];
            if (lane !== undefined && (lane.publishes += 1) === 3) enough.resolve();
          });
          made += count;
          await assertNothingForgotten();
        }
      }),
    ).then(() => (work.isPublishing = false));
    const ending = (async () => {
      for (const [i, { id }] of lanes.entries()) {
        await met[i]?.enough.promise;
        await stage.once(async (tx) =>
          tx.run(unsubscribe({ appNo: stage.appNo, id }, world.nowMs(), [])),
        );
      }
    })();
    const unswept = `select from ringback.lane where swept = 0`;
    const sweeping = (async () => {
      await until(async () => {
        await stage.once(async (tx) =>
          sweep(tx, { limit: 100 }, { nowMs: world.nowMs(), facts: [] }),
        );
        return !work.isPublishing && (await stage.database.query(unswept)).length === 0;
      });
    })();
    await Promise.all([publishing, ending, sweeping]);
    t.diagnostic(JSON.stringify({ made }));
    assert(made > lanes.length, 'hardly anything was published while the lanes were open');
    const { due, cancelled } = await stage.store.read('tally', {});
    assert.deepEqual({ due, cancelled }, { due: 0, cancelled: made });
  });
});

/** Returns the number of deliveries. */
async function publishLate(event: string, onWritten = (): void => undefined): Promise<number> {
  return stage.once(async (tx) => {
    const [output] = await publishOn(tx, world.nowMs(), [stage.publishing(event)]);
    onWritten();
    await world.sleep(random(holdMaxMs));
    assert(output?.kind === 'accepted');
    return output.events[0]?.deliveries ?? 0;
  });
}

/** In one snapshot, every pending delivery must be in a lane that will be claimed or swept. */
async function assertNothingForgotten(): Promise<void> {
  const forgotten = await stage.database.query(
    `select no from ringback.lane
     where case state when 0 then ready_ms = ${never} else swept = 1 end
       and exists (select from ringback.delivery_live where lane = no and lease is null)`,
  );
  assert.deepEqual(forgotten, []);
}

interface Counts {
  closed: number;
  forgotten: number;
  freed: number;
  back: number;
  again: number;
}

async function claimOnAndOn(work: { isPublishing: boolean }, counts: Counts): Promise<void> {
  const started = { name: 'test', role: 'all', version: '0', aloneHere: false } as const;
  const ours = (await stage.store.edit('startNode', started)).node * 2 ** 32;
  let settlements: Settlement[] = [];
  while (work.isPublishing || settlements.length > 0 || (await isSomethingLeft())) {
    const nowMs = world.nowMs();
    const held = settlements;
    settlements = await stage.once(async (tx) => {
      const { replies, returnedCount: wentBack } = await settleAll(tx, held, nowMs);
      assert(replies.every(({ kind }) => kind === 'settled'));
      counts.back += wentBack;
      const lease = random(4) === 0 ? deadLease : ours;
      const closing = countingCloses(tx, counts);
      // Some claims ignore floors, as nodes do now and then: after a stall of the machine, a late commit may lie below the
      // floor of its lane.
      const floors = { readyMs: 0, isDropped: random(16) === 0 };
      const { deliveries } = await claimOn(closing, { nowMs, lingerMs, lease, floors });
      if (lease === ours) return deliveries.map((leased) => settlementOf(leased, outcome(), nowMs));
      counts.forgotten += deliveries.length;
      return [];
    });
    const [first] = held;
    if (first?.outcome.kind === 'delivered' && random(4) === 0) await sendAgain(first, counts);
  }
}

async function sendAgain({ event, n }: Settlement, counts: Counts): Promise<void> {
  const name = { appNo: stage.appNo, event, n };
  const again = await stage.once(async (tx) => tx.run(retryDelivery(name, world.nowMs(), [])));
  assert.equal(again.kind, 'due');
  counts.again += 1;
  await assertNothingForgotten();
}

/** Recovers leases and retries delivered ones, as long as there are claims. */
async function rescueOnAndOn(work: { isClaiming: boolean }, counts: Counts): Promise<void> {
  while (work.isClaiming) {
    const times = { givenMs: null, nowMs: world.nowMs() };
    counts.freed += (await stage.once(async (tx) => rescue(tx, { silentMs: 60_000 }, times))).freed;
    await world.sleep(random(holdMaxMs));
  }
}

async function isSomethingLeft(): Promise<boolean> {
  await assertNothingForgotten();
  return (await stage.database.query('select from ringback.delivery_live limit 1')).length > 0;
}

/** Counts the claims that close a lane. */
function countingCloses(tx: Tx, counts: Counts): Tx {
  return {
    run: async (script) => tx.run(script),
    query: async (sql, values) => {
      const readyMs = sql === claimSql.look ? values[2] : [];
      if (Array.isArray(readyMs)) counts.closed += readyMs.filter((ms) => ms === never).length;
      return tx.query(sql, values);
    },
  };
}

function outcome(): 'delivered' | 'retry' | 'released' {
  const chance = random(10);
  if (chance < 7) return 'delivered';
  return chance < 9 ? 'retry' : 'released';
}

function random(below: number): number {
  return (world.randomBytes(1)[0] ?? 0) % below;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
