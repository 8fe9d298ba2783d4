// The turns of changes beside publishes, with a clock and turns of the event loop that the test moves. Over sockets:
// test/api/admission.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '../../src/core/limits/limits.ts';
import { ChangeTurns } from '../../src/engine/admission/turns.ts';
import { frozenWorld } from '../api/frozen-world.ts';

const { publishesPerChange, changeEveryMs, changesAtOnceMax, changeTurnMs, publishQuietMs } =
  limits;

interface Stage {
  turns: ChangeTurns;
  /** What was answered, in order. */
  answered: string[];
  /** The result takes it back. */
  change: (name: string, appNo?: number) => () => void;
  /** So many publishes end, and then a turn of the event loop. */
  publish: (count: number) => void;
  endTurn: () => void;
  /** Time passes, and whatever sleeps wakes. */
  pass: (ms: number) => Promise<void>;
}

function stage(): Stage {
  const world = frozenWorld();
  const ends: (() => void)[] = [];
  const sleepers: (() => void)[] = [];
  const sleep = async (): Promise<void> => new Promise((resolve) => void sleepers.push(resolve));
  const turns = new ChangeTurns({ ...world, sleep }, (body) => void ends.push(body));
  const answered: string[] = [];
  const endTurn = (): void => {
    for (const body of ends.splice(0)) body();
  };
  return {
    turns,
    answered,
    change: (name, appNo = 1) =>
      turns.wait(appNo, (verdict) => {
        answered.push(verdict === 'begin' ? name : `${name} ${verdict}`);
      }),
    publish: (count) => {
      for (let n = 0; n < count; n += 1) turns.publishBegan();
      for (let n = 0; n < count; n += 1) turns.publishEnded();
      endTurn();
    },
    endTurn,
    pass: async (ms) => {
      world.advance(ms);
      for (const wake of sleepers.splice(0)) wake();
      await turn();
      endTurn();
    },
  };
}

/** With a publish in progress, and all that may begin at once begun. */
function busyStage(): Stage {
  const one = stage();
  one.turns.publishBegan();
  for (let n = 0; n < changesAtOnceMax; n += 1) one.change('first');
  assert.equal(one.answered.splice(0).length, changesAtOnceMax);
  return one;
}

describe('changes beside publishes', () => {
  it('begin at once, any number of them, while no publish is in progress', () => {
    const { turns, answered, change } = stage();
    for (let n = 0; n < 500; n += 1) change(`${n}`);
    assert.equal(answered.length, 500);
    turns.publishBegan();
    change('later');
    assert.equal(answered.length, 501, 'they have used up nothing');
  });

  it('begin in their order, one for so many publishes', () => {
    const { turns, answered, change, publish } = busyStage();
    for (const name of ['a', 'b', 'c', 'd']) change(name);
    publish(publishesPerChange - 1);
    assert.deepEqual(answered, []);
    publish(1);
    assert.deepEqual(answered, ['a']);
    publish(2 * publishesPerChange);
    assert.deepEqual([answered, turns.waiting], [['a', 'b', 'c'], 1]);
  });

  it('begin one for so long while publishes take longer, and use up later publishes', async () => {
    const { answered, change, publish, pass } = busyStage();
    for (const name of ['a', 'b', 'c']) change(name);
    await pass(changeEveryMs - 1);
    assert.deepEqual(answered, []);
    await pass(1);
    assert.deepEqual(answered, ['a']);
    publish(publishesPerChange);
    assert.deepEqual(answered, ['a']);
    publish(publishesPerChange);
    assert.deepEqual(answered, ['a', 'b']);
  });

  it('begin at most so many at once after many publishes', () => {
    const { answered, change, publish } = busyStage();
    publish(10 * changesAtOnceMax * publishesPerChange);
    for (let n = 0; n < 2 * changesAtOnceMax; n += 1) change(`${n}`);
    assert.equal(answered.length, changesAtOnceMax);
  });

  it('begin for each app in turn, however many one app has', () => {
    const { answered, change, publish } = busyStage();
    for (const name of ['a1', 'a2', 'a3', 'a4']) change(name, 1);
    for (const name of ['b1', 'b2']) change(name, 2);
    publish(5 * publishesPerChange);
    assert.deepEqual(answered, ['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('begin one in each turn of the event loop once publishes have ended, until the next', async () => {
    const { turns, answered, change, pass, endTurn } = busyStage();
    for (const name of ['a', 'b', 'c', 'd']) change(name);
    turns.publishEnded();
    endTurn();
    assert.deepEqual(answered, [], 'the same client may publish again');
    await pass(publishQuietMs);
    assert.deepEqual(answered, ['a']);
    endTurn();
    assert.deepEqual(answered, ['a', 'b']);
    turns.publishBegan();
    endTurn();
    assert.deepEqual([answered, turns.waiting], [['a', 'b'], 2]);
  });

  it('still take turns while the main thread is too busy to read the next publish', async () => {
    const { turns, answered, change, pass, endTurn } = busyStage();
    for (const name of ['a', 'b', 'c', 'd']) change(name);
    turns.publishEnded();
    await pass(changeEveryMs);
    for (let n = 0; n < 10; n += 1) endTurn();
    assert.deepEqual([answered, turns.waiting], [['a'], 3]);
  });

  it('never begin once their clients have left', () => {
    const { turns, answered, change, publish } = busyStage();
    const leave = change('a');
    change('b');
    leave();
    assert.equal(turns.waiting, 1);
    publish(2 * publishesPerChange);
    assert.deepEqual(answered, ['b']);
    leave();
  });

  it('are refused once, and never begin, when they have waited for too long', async () => {
    const { turns, answered, change, publish, pass } = busyStage();
    for (const name of ['a', 'b']) change(name, 1);
    const rounds = Math.ceil(changeTurnMs / changeEveryMs);
    for (let n = 0; n < rounds; n += 1) change(`${n}`, 2);
    await pass(changeTurnMs);
    assert.equal(turns.waiting, 0);
    assert.deepEqual(answered.slice(0, 3), ['a late', 'b late', '0 late']);
    publish(10 * publishesPerChange);
    assert.equal(answered.length, rounds + 2);
  });
});
