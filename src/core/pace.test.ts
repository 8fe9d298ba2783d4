import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { atOnce, byTurns, untilQuiet, type MakePace } from './pace.ts';

describe('atOnce', () => {
  it('lets leave and hands out in the very call', () => {
    const said: string[] = [];
    const pace = atOnce(() => said.push('leave'));
    pace.soon();
    pace.handOut(() => said.push('out'));
    assert.deepEqual(said, ['leave', 'out']);
  });
});

describe('untilQuiet', () => {
  it('lets leave at the end of the first turn that has brought nothing more', () => {
    const { said, ends, pace } = setUp(untilQuiet);
    pace.soon();
    pace.soon();
    end(ends);
    assert.deepEqual(said, [], 'the second came in this turn');
    end(ends);
    assert.deepEqual(said, ['leave']);
    assert.deepEqual(ends, []);
  });

  it('lets what is alone leave after a whole turn, each time', () => {
    const { said, ends, pace } = setUp(untilQuiet);
    for (const times of [1, 2]) {
      pace.soon();
      end(ends);
      assert.equal(said.length, times - 1, 'whoever was answered in this turn may still come');
      end(ends);
      assert.equal(said.length, times);
    }
  });

  it('lets leave when much is there, or after some turns, though more comes in each', () => {
    const { said, ends, pace } = setUp(untilQuiet);
    for (let i = 0; i < 128; i += 1) pace.soon();
    end(ends);
    assert.deepEqual(said, ['leave']);
    for (let turn = 0; turn < 17; turn += 1) {
      assert.deepEqual(said, ['leave'], `turn ${turn}`);
      pace.soon();
      pace.soon();
      end(ends);
    }
    assert.deepEqual(said, ['leave', 'leave']);
  });

  it('hands out in the very call, and what that asks for waits for its turn', () => {
    const { said, ends, pace } = setUp(untilQuiet);
    pace.handOut(() => {
      said.push('out');
      pace.soon();
    });
    assert.deepEqual(said, ['out']);
    end(ends);
    end(ends);
    assert.deepEqual(said, ['out', 'leave']);
  });
});

describe('byTurns', () => {
  it('lets leave once, at the end of the turn, however often it is asked', () => {
    const { said, ends, pace } = setUp(byTurns);
    pace.soon();
    pace.soon();
    assert.deepEqual(said, []);
    end(ends);
    assert.deepEqual(said, ['leave']);
    pace.soon();
    end(ends);
    assert.deepEqual(said, ['leave', 'leave']);
  });

  it('lets leave before anything is handed out, in the order in which it was asked', () => {
    const { said, ends, pace } = setUp(byTurns);
    for (const name of ['first', 'second']) pace.handOut(() => said.push(name));
    end(ends);
    assert.deepEqual(said, ['leave', 'first', 'second']);
  });

  it('keeps what is asked while it hands out for the end of the next turn', () => {
    const { said, ends, pace } = setUp(byTurns);
    pace.handOut(() => {
      said.push('first');
      pace.handOut(() => said.push('second'));
    });
    end(ends);
    assert.deepEqual(said, ['leave', 'first']);
    end(ends);
    assert.deepEqual(said, ['leave', 'first', 'leave', 'second']);
  });

  it('ends a turn of the event loop after all that it brings, if nothing else is said', async () => {
    const said: string[] = [];
    const pace = byTurns()(() => said.push('leave'));
    pace.soon();
    process.nextTick(() => said.push('tick'));
    await Promise.resolve().then(() => said.push('microtask'));
    await new Promise<void>((resolve) => pace.handOut(resolve));
    assert.equal(said.at(-1), 'leave');
    assert.deepEqual(said.toSorted(), ['leave', 'microtask', 'tick']);
  });
});

/** A pace whose turns end when the test says so. */
function setUp(make: (atEnd: (body: () => void) => void) => MakePace) {
  const said: string[] = [];
  const ends: (() => void)[] = [];
  const pace = make((body) => void ends.push(body))(() => said.push('leave'));
  return { said, ends, pace };
}

/** All that was to happen at the end of a turn; what that asks for comes with the next one. */
function end(ends: (() => void)[]): void {
  for (const body of ends.splice(0)) body();
}
