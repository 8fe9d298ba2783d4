import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { progressLine, startProgress } from './progress.ts';
import { textWidth } from './table.ts';

const step = { label: 'Publishing', done: 250, total: 1_000, tookMs: 2_000 };

describe('progressLine', () => {
  it('shows a bar, the percentage, the count, the rate and the time left', () => {
    assert.equal(
      progressLine(step, 100),
      'Publishing  ███████░░░░░░░░░░░░░░░░░░░░░░░  25 % · 250 of 1,000 · 125/s · 6 s left',
    );
  });

  it('drops the bar, then the end of the line, if there is no room', () => {
    assert.equal(progressLine(step, 56), 'Publishing  25 % · 250 of 1,000 · 125/s · 6 s left');
    assert.equal(progressLine(step, 20), 'Publishing  25 %…');
    for (let width = 1; width < 120; width += 1) {
      const line = progressLine({ ...step, note: '\u001b[2J日本' }, width);
      assert.ok(textWidth(`${line}^C`) < width || line === '', 'and Ctrl+C has room behind it');
    }
  });

  it('counts if the total is unknown, and is full if it is zero', () => {
    assert.equal(progressLine({ ...step, total: undefined }, 80), 'Publishing  250 · 125/s');
    assert.match(progressLine({ ...step, done: 0, total: 0 }, 80), /█{30} {2}100 %/);
  });
});

describe('startProgress', () => {
  const stage = (isTerminal: boolean) => {
    let nowMs = 0;
    const said: string[] = [];
    const terminal = {
      err: (text: string) => void said.push(text),
      log: { isTerminal, isColoured: false },
      width: () => 80,
      world: {
        monotonicMs: () => nowMs,
        elapsedMs: () => nowMs,
        nowMs: () => nowMs,
        randomBytes: (count: number) => new Uint8Array(count),
        sleep: async () => {},
      },
    };
    return { terminal, said, pass: (ms: number) => void (nowMs += ms) };
  };

  it('redraws at most ten times a second, and erases the line at the end', () => {
    const { terminal, said, pass } = stage(true);
    {
      using progress = startProgress('Work', terminal);
      for (let done = 0; done < 100; done += 1) {
        progress.show({ done, total: 100 });
        pass(10);
      }
    }
    assert.equal(said.length, 11);
    assert.ok(said.every((text) => text.startsWith('\r') && text.endsWith('\u001b[K')));
    assert.match(said[9] ?? '', /90 %/);
    assert.equal(said.at(-1), '\r\u001b[K');
  });

  it('draws nothing if stderr is not a terminal', () => {
    const { terminal, said } = stage(false);
    {
      using progress = startProgress('Work', terminal);
      progress.show({ done: 1, total: 2 });
    }
    assert.deepEqual(said, []);
  });
});
