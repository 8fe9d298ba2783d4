import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { Batch } from '../call.ts';
import type { Work } from '../delivery-verbs.ts';
import { packBatch, packWork } from './pack.ts';

const pool = Buffer.from('0123456789');

describe('packBatch', () => {
  const publish = (...payloads: Uint8Array[]): Batch['edits'][number] => ({
    verb: 'publish',
    input: {
      appNo: 1,
      contract: 'Ringback',
      events: payloads.map((payload, i) => ({ id: `e${i}`, name: 'a', payload })),
      audience: { kind: 'everyone' },
      idempotency: undefined,
    },
  });

  it('puts all payloads into one buffer of their size, and leaves the originals alone', () => {
    const forget = { verb: 'forget', input: { idempotencyBeforeMs: 0, limit: 1 } } as const;
    const edits = [
      publish(pool.subarray(2, 5)),
      forget,
      publish(pool.subarray(8), pool.subarray(0, 1)),
    ];
    const { message, transfer } = packBatch({ nowMs: 1, edits, offer: undefined });
    assert.deepEqual(
      transfer.map(({ byteLength }) => byteLength),
      [6],
    );
    const sent = structuredClone(message, { transfer: [...transfer] });
    const payloads = sent.edits.flatMap((call) =>
      call.verb === 'publish' ? call.input.events.map(({ payload }) => Buffer.from(payload)) : [],
    );
    assert.deepEqual(payloads.map(String), ['234', '89', '0']);
    assert.deepEqual(sent.edits[1], forget);
    assert.equal(String(pool), '0123456789');
  });

  it('leaves a batch without payloads as it is', () => {
    const batch = { nowMs: 1, edits: [], offer: undefined };
    assert.deepEqual(packBatch(batch), { message: batch, transfer: [] });
  });
});

describe('packWork', () => {
  const settlement = (body: Uint8Array | undefined): Work['settlements'][number] => ({
    event: 'e',
    n: 0,
    lease: 1,
    outcome: { kind: 'delivered' },
    attempt: {
      node: 1,
      startedMs: 1,
      tookMs: 1,
      status: 200,
      error: undefined,
      message: undefined,
      request: { method: 'post', url: 'https://receiver.example/' },
      response: body === undefined ? undefined : { headers: [], body, cut: false },
      warning: undefined,
    },
  });

  it('puts all bodies into one buffer of their size', () => {
    const settlements = [pool.subarray(1, 3), undefined, pool.subarray(9)].map(settlement);
    const work = { nowMs: 1, settlements, claim: undefined, fanOut: undefined };
    const { message, transfer } = packWork(work);
    assert.deepEqual(
      transfer.map(({ byteLength }) => byteLength),
      [3],
    );
    const sent = structuredClone(message, { transfer: [...transfer] });
    const bodies = sent.settlements.map(({ attempt }) => attempt?.response?.body);
    assert.deepEqual(
      bodies.map((body) => body && Buffer.from(body).toString()),
      ['12', undefined, '9'],
    );
  });
});
