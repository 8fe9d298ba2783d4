// The turns of large publishes, with turns of the event loop that the test ends. Over sockets:
// test/api/admission.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchTurns } from '../../src/engine/admission/turns.ts';

interface Stage {
  /** Names of the publishes that have begun, in order. */
  begun: string[];
  /** The result takes it out of the queue. */
  publish: (name: string, appNo?: number) => () => void;
  endTurn: () => void;
}

function stage(): Stage {
  const ends: (() => void)[] = [];
  const turns = new BatchTurns((body) => void ends.push(body));
  const begun: string[] = [];
  return {
    begun,
    publish: (name, appNo = 1) => turns.wait(appNo, () => void begun.push(name)),
    endTurn: () => {
      for (const body of ends.splice(0)) body();
    },
  };
}

describe('large publishes', () => {
  it('begin one in each turn of the event loop, in their order', () => {
    const { begun, publish, endTurn } = stage();
    for (const name of ['a', 'b', 'c']) publish(name);
    assert.deepEqual(begun, ['a']);
    endTurn();
    assert.deepEqual(begun, ['a', 'b']);
    endTurn();
    assert.deepEqual(begun, ['a', 'b', 'c']);
    publish('d');
    assert.deepEqual(begun, ['a', 'b', 'c'], 'c began in this turn');
    endTurn();
    endTurn();
    publish('e');
    assert.deepEqual(begun, ['a', 'b', 'c', 'd', 'e']);
  });

  it('begin for each app in turn, however many one app has', () => {
    const { begun, publish, endTurn } = stage();
    for (const name of ['a1', 'a2', 'a3', 'a4']) publish(name, 1);
    publish('b1', 2);
    for (let n = 0; n < 4; n += 1) endTurn();
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('never begin once their clients have left', () => {
    const { begun, publish, endTurn } = stage();
    publish('a');
    const leave = publish('b');
    publish('c');
    leave();
    endTurn();
    assert.deepEqual(begun, ['a', 'c']);
    endTurn();
    assert.deepEqual(begun, ['a', 'c']);
  });
});
