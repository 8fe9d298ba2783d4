// Data that a claim on PostgreSQL transfers.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { settleAll } from '../../src/store/postgres/deliver/settle.ts';
import type { Tx } from '../../src/store/postgres/connection/tx.ts';
import { settlementOf } from './settlement.ts';
import { newId } from './open-memory.ts';
import type { Stage } from './postgres-stage.ts';
import { claimOn, openStage, publishOn, world } from './postgres-stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('claim', { timeout: 300_000 }, () => {
  it('reads the payload of an event once, however many of its deliveries it leases', async () => {
    await stage.subscribe('a', 20);
    const nowMs = world.nowMs();
    const payloads = ['"one"', '"another"'].map((text) => Buffer.from(text));
    const events = payloads.map((payload) => ({ id: newId(), name: 'a', payload }));
    await stage.once(async (tx) => publishOn(tx, nowMs, [stage.publishing('a', { events })]));
    let bytes = 0;
    const counting = (tx: Tx): Tx => ({
      ...tx,
      query: async (sql, values) => {
        const rows = await tx.query(sql, values);
        for (const { payload } of rows) {
          if (payload instanceof Uint8Array) bytes += payload.byteLength;
        }
        return rows;
      },
    });
    const { deliveries } = await stage.once(async (tx) =>
      claimOn(counting(tx), { nowMs: nowMs + 10, room: 64 }),
    );
    const taken = events.map(({ id, name, payload }) => {
      const ours = deliveries.filter(({ event }) => event === id);
      assert(ours.every((one) => one.eventName === name && payload.equals(one.payload)));
      return ours.length;
    });
    assert.deepEqual(taken, [20, 20]);
    assert.equal(bytes, Buffer.concat(payloads).byteLength);
  });

  it('starts with a delivery that returned to the head of an ordered lane after earlier claims', async () => {
    const { lane } = await stage.subscribe('a');
    const startMs = world.nowMs();
    const laterMs = startMs + 2 * limits.floorMs;
    const publishAt = async (nowMs: number): Promise<string> => {
      const input = stage.publishing('a');
      await stage.once(async (tx) => publishOn(tx, nowMs, [input]));
      return input.events[0]?.id ?? '';
    };
    const take = async (nowMs: number): Promise<Leased[]> =>
      (await stage.once(async (tx) => claimOn(tx, { nowMs, room: 1 }))).deliveries;
    const first = await publishAt(startMs);
    const [slow] = await take(startMs);
    assert(slow?.event === first);
    for (let i = 0; i < 2; i += 1) await publishAt(laterMs);
    const others = await take(laterMs);
    assert.equal(others.length, 1);
    await stage.database.query('update ringback.lane set ordered = 1 where no = $1', [lane]);
    await stage.once(async (tx) => {
      const failed = [slow, ...others].map((one) => settlementOf(one, 'retry', laterMs));
      return settleAll(tx, failed, laterMs);
    });
    const [next] = await take(laterMs + 60_000);
    assert.equal(next?.event, first);
  });
});
