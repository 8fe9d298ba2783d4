import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { atOnce, byTurns, nextFirst } from './pace.ts';

describe('atOnce', () => {
  it('lets leave and hands out in the very call', () => {
    const said: string[] = [];
    const pace = atOnce(() => said.push('leave'));
    pace.soon();
    pace.handOut(() => said.push('out'));
    assert.deepEqual(said, ['leave', 'out']);
  });
});

describe('nextFirst', () => {
  it('lets leave at once, and hands out after what was to leave on the next tick', async () => {
    const said: string[] = [];
    const pace = nextFirst(() => process.nextTick(() => said.push('left')));
    await new Promise<void>((resolve) => {
      pace.handOut(() => {
        said.push('out');
        resolve();
      });
      pace.soon();
    });
    assert.deepEqual(said, ['left', 'out']);
  });
});

describe('byTurns', () => {
  const setUp = () => {
    const said: string[] = [];
    const ends: (() => void)[] = [];
    const pace = byTurns((body) => void ends.push(body))(() => said.push('leave'));
    return { said, ends, pace };
  };

  /** All that was to happen at its end; what that asks for comes with the next one. */
  const end = (ends: (() => void)[]): void => {
    for (const body of ends.splice(0)) body();
  };

  it('lets leave once, at the end of the turn, however often it is asked', () => {
    const { said, ends, pace } = setUp();
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
    const { said, ends, pace } = setUp();
    for (const name of ['first', 'second']) pace.handOut(() => said.push(name));
    end(ends);
    assert.deepEqual(said, ['leave', 'first', 'second']);
  });

  it('keeps what is asked while it hands out for the end of the next turn', () => {
    const { said, ends, pace } = setUp();
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
