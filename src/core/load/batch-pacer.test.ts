import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { sendAtOnce, sendEachTurn, sendWhenQuiet, type CreatePacer } from './batch-pacer.ts';

describe('sendAtOnce', () => {
  it('sends the batch and hands out results within the call', () => {
    const said: string[] = [];
    const pacer = sendAtOnce(() => said.push('leave'));
    pacer.requestSend();
    pacer.handOut(() => said.push('out'));
    assert.deepEqual(said, ['leave', 'out']);
  });
});

describe('sendWhenQuiet', () => {
  it('sends the batch at the end of the first turn that added nothing', () => {
    const { said, ends, pacer } = setUp(sendWhenQuiet);
    pacer.requestSend();
    pacer.requestSend();
    end(ends);
    assert.deepEqual(said, [], 'the second came in this turn');
    end(ends);
    assert.deepEqual(said, ['leave']);
    assert.deepEqual(ends, []);
  });

  it('sends a lone item after one whole turn, each time', () => {
    const { said, ends, pacer } = setUp(sendWhenQuiet);
    for (const times of [1, 2]) {
      pacer.requestSend();
      end(ends);
      assert.equal(
        said.length,
        times - 1,
        'clients that were answered in this turn may still add work',
      );
      end(ends);
      assert.equal(said.length, times);
    }
  });

  it('sends the batch when it is large or some turns old, though each turn adds more', () => {
    const { said, ends, pacer } = setUp(sendWhenQuiet);
    for (let i = 0; i < 128; i += 1) pacer.requestSend();
    end(ends);
    assert.deepEqual(said, ['leave']);
    for (let turn = 0; turn < 17; turn += 1) {
      assert.deepEqual(said, ['leave'], `turn ${turn}`);
      pacer.requestSend();
      pacer.requestSend();
      end(ends);
    }
    assert.deepEqual(said, ['leave', 'leave']);
  });

  it('hands out results within the call, and work that this adds waits for its turn', () => {
    const { said, ends, pacer } = setUp(sendWhenQuiet);
    pacer.handOut(() => {
      said.push('out');
      pacer.requestSend();
    });
    assert.deepEqual(said, ['out']);
    end(ends);
    end(ends);
    assert.deepEqual(said, ['out', 'leave']);
  });
});

describe('sendEachTurn', () => {
  it('sends the batch once, at the end of the turn, however often it is asked to', () => {
    const { said, ends, pacer } = setUp(sendEachTurn);
    pacer.requestSend();
    pacer.requestSend();
    assert.deepEqual(said, []);
    end(ends);
    assert.deepEqual(said, ['leave']);
    pacer.requestSend();
    end(ends);
    assert.deepEqual(said, ['leave', 'leave']);
  });

  it('sends the batch before handing out results, in order', () => {
    const { said, ends, pacer } = setUp(sendEachTurn);
    for (const name of ['first', 'second']) pacer.handOut(() => said.push(name));
    end(ends);
    assert.deepEqual(said, ['leave', 'first', 'second']);
  });

  it('keeps work that is added while it hands out results for the end of the next turn', () => {
    const { said, ends, pacer } = setUp(sendEachTurn);
    pacer.handOut(() => {
      said.push('first');
      pacer.handOut(() => said.push('second'));
    });
    end(ends);
    assert.deepEqual(said, ['leave', 'first']);
    end(ends);
    assert.deepEqual(said, ['leave', 'first', 'leave', 'second']);
  });

  it('by default ends a turn after everything in that turn of the event loop', async () => {
    const said: string[] = [];
    const pacer = sendEachTurn()(() => said.push('leave'));
    pacer.requestSend();
    process.nextTick(() => said.push('tick'));
    await Promise.resolve().then(() => said.push('microtask'));
    await new Promise<void>((resolve) => pacer.handOut(resolve));
    assert.equal(said.at(-1), 'leave');
    assert.deepEqual(said.toSorted(), ['leave', 'microtask', 'tick']);
  });
});

/** A pacer whose turns end when the test says so. */
function setUp(make: (atEnd: (body: () => void) => void) => CreatePacer) {
  const said: string[] = [];
  const ends: (() => void)[] = [];
  const pacer = make((body) => void ends.push(body))(() => said.push('leave'));
  return { said, ends, pacer };
}

/** Ends a turn; work that this adds runs at the end of the next one. */
function end(ends: (() => void)[]): void {
  for (const body of ends.splice(0)) body();
}
