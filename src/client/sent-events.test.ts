import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientLimits } from './limits.ts';
import { createSentEvents, type SentEvent } from './stream.ts';

function read(...pieces: string[]): SentEvent[] {
  const events = createSentEvents();
  return pieces.flatMap((piece) => events.push(piece));
}

const text =
  'retry: 1000\nevent: changes\nid: 1-2\ndata: {"a":1}\n\n' +
  ': still here\nid: 1-3\n\n' +
  'data:one\r\ndata: two\rdata\n\r\n' +
  'event: bye\rdata: {}\r\r';

const expected = [
  { event: 'changes', data: '{"a":1}', id: '1-2', retryMs: 1_000 },
  { event: 'message', data: undefined, id: '1-3', retryMs: undefined },
  { event: 'message', data: 'one\ntwo\n', id: undefined, retryMs: undefined },
  { event: 'bye', data: '{}', id: undefined, retryMs: undefined },
];

describe('createSentEvents', () => {
  it('reads events with any line ending, comments, ids and several lines of data', () => {
    assert.deepEqual(read(text), expected);
  });

  it('reads the same wherever the text is split', () => {
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 5) {
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        assert.deepEqual(read(...pieces), expected, `${first} ${second}`);
      }
    }
    assert.deepEqual(read(...text.split('')), expected);
  });

  it('ignores an unfinished event', () => {
    assert.deepEqual(read('id: 7\ndata: {}\n'), []);
    assert.deepEqual(read('id: 7\ndata: {}'), []);
  });

  it('ignores what the standard ignores', () => {
    const [event] = read('id: a\0b\nretry: soon\nevent:\nstrange: x\ndata:  x\n\n');
    assert.deepEqual(event, { event: 'message', data: ' x', id: undefined, retryMs: undefined });
  });

  it('throws on an event that never ends, in one line or in many', () => {
    const half = `data: ${'x'.repeat(clientLimits.sentEventCharsMax / 2)}`;
    assert.throws(() => read(half, half), /longer than/);
    assert.throws(() => read(`${half}\n`, `${half}\n`), /longer than/);
  });
});
