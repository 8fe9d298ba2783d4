// What a claim on PostgreSQL brings over the wire.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Tx } from '../../src/store/postgres/tx.ts';
import { newId } from './open-memory.ts';
import type { Stage } from './postgres-stage.ts';
import { claimOn, openStage, publishOn, world } from './postgres-stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('claim', { timeout: 300_000 }, () => {
  it('reads the payload of an event once, however many of its deliveries it takes', async () => {
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
});
