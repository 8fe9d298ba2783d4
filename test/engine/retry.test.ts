import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Header } from '../../src/core/domain/attempt.ts';
import { openDatabase, startEngine, type FakeSend } from './harness.ts';
import { virtualWorld, type VirtualWorld } from './virtual-world.ts';

const waitsMs = [5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000];
const hourMs = 3_600_000;

/** The middle of the jitter: the waits are exactly those of the schedule. */
const middle = 0x80;

/** A receiver that records when it was called, and answers from a list; the last answer repeats. */
function receiver(
  world: VirtualWorld,
  answers: readonly { status: number; headers?: readonly Header[] }[],
): { calls: number[]; send: FakeSend } {
  const calls: number[] = [];
  const send: FakeSend = async (_request, options) => {
    if (options?.onStart?.() === false) return { kind: 'not_started', reason: 'declined' };
    const { status, headers = [] } = answers[Math.min(calls.length, answers.length - 1)] ?? {
      status: 500,
    };
    calls.push(world.nowMs());
    return { kind: 'answered', status, headers, body: new Uint8Array(), cut: false };
  };
  return { calls, send };
}

function gaps(calls: readonly number[]): number[] {
  return calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
}

describe('the retry schedule', () => {
  it('is followed to the millisecond, and ends dead after 8 attempts', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = receiver(world, [{ status: 500 }]);
    await using engine = await startEngine(world, openDatabase(), send);
    await engine.subscribe();
    const event = await engine.publish();
    await world.pass(40 * hourMs);
    assert.equal(calls.length, 8);
    assert.deepEqual(gaps(calls), waitsMs);
    const { store, defaultApp } = engine.context;
    const delivery = await store.read('delivery', { appNo: defaultApp.no, event, n: 0 });
    assert.equal(delivery?.state, 'dead');
    assert.equal(delivery.attempts, 8);
    assert.equal(delivery.status, 500);
    assert.deepEqual(engine.errors, []);
  });

  it("is measured by the clock that nodes share, whatever happens to the machine's own", async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = receiver(world, [{ status: 500 }]);
    const stepsMs = [hourMs, -24 * hourMs, 0, 7 * hourMs];
    const aheadMs = (): number => stepsMs[calls.length % stepsMs.length] ?? 0;
    const options = { isShared: true, aheadMs };
    await using engine = await startEngine(world, openDatabase(), send, options);
    await engine.subscribe();
    await engine.publish();
    await world.pass(310_000);
    assert.deepEqual(gaps(calls), waitsMs.slice(0, 2));
  });

  it('is not affected by a restart', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = receiver(world, [{ status: 500 }]);
    const database = openDatabase();
    {
      await using engine = await startEngine(world, database, send);
      await engine.subscribe();
      await engine.publish();
      await world.pass(5_000 + 100_000);
    }
    assert.equal(calls.length, 2);
    await world.pass(50_000);
    await using _second = await startEngine(world, database, send);
    await world.pass(3 * hourMs);
    assert.deepEqual(gaps(calls), waitsMs.slice(0, 4));
  });

  it('catches up at once on attempts that became due while no node ran', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = receiver(world, [{ status: 500 }, { status: 200 }]);
    const database = openDatabase();
    {
      await using engine = await startEngine(world, database, send);
      await engine.subscribe();
      await engine.publish();
      await world.pass(1_000);
    }
    await world.pass(hourMs);
    const backMs = world.nowMs();
    await using _second = await startEngine(world, database, send);
    await world.settle();
    assert.equal(calls[1], backMs);
  });

  it('stops with the first success', async () => {
    const world = virtualWorld({ byte: middle });
    const { calls, send } = receiver(world, [{ status: 503 }, { status: 204 }]);
    await using engine = await startEngine(world, openDatabase(), send);
    await engine.subscribe();
    await engine.publish();
    await world.pass(hourMs);
    assert.deepEqual(gaps(calls), [5_000]);
  });

  const cases: [string, string, number][] = [
    ['seconds, more than the schedule', '60', 60_000],
    ['seconds, less than the schedule', '1', 5_000],
    ['zero', '0', 5_000],
    ['negative', '-30', 5_000],
    ['absurd: capped at a day', '999999999', 24 * hourMs],
    ['more digits than a number holds', '9'.repeat(30), 5_000],
    ['words', 'soon', 5_000],
    ['a fraction', '1.5', 5_000],
    ['a date in two minutes', new Date(1_800_000_120_000).toUTCString(), 120_000],
    ['a date in the past', 'Wed, 21 Oct 2015 07:28:00 GMT', 5_000],
    ['a date that is none', 'Wed, 99 Oct 2099 99:99:99 GMT', 5_000],
    ['a date in a hundred years', 'Fri, 31 Dec 2126 23:59:59 GMT', 24 * hourMs],
  ];
  for (const [name, value, expectedMs] of cases) {
    it(`honours Retry-After: ${name}`, async () => {
      const world = virtualWorld({ byte: middle });
      const headers: Header[] = [['Retry-After', value]];
      const { calls, send } = receiver(world, [{ status: 503, headers }, { status: 200 }]);
      const database = openDatabase();
      {
        await using engine = await startEngine(world, database, send);
        await engine.subscribe();
        await engine.publish();
        await world.pass(1_000);
      }
      // An engine that runs for a virtual day polls 86,400 times: 3 s of CPU.
      await world.pass(expectedMs - 2_000);
      await using _second = await startEngine(world, database, send);
      await world.pass(2_000);
      assert.deepEqual(gaps(calls), [expectedMs]);
    });
  }

  it('spreads attempts by at most a fifth in either direction', async () => {
    for (const [byte, factor] of [
      [0, 0.8],
      [0xff, 1.2],
    ] as const) {
      const world = virtualWorld({ byte });
      const { calls, send } = receiver(world, [{ status: 500 }]);
      await using engine = await startEngine(world, openDatabase(), send);
      await engine.subscribe();
      await engine.publish();
      await world.pass(hourMs);
      assert.deepEqual(
        gaps(calls),
        waitsMs.slice(0, 3).map((ms) => Math.round(ms * factor)),
      );
    }
  });
});
