// Publishes a thousand events under kills, and tests `judge`; `npm run proof` publishes many more.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brief, count, judge, newBook, type Book } from './book.ts';
import { kills } from './part.ts';

describe('a service that is killed under load', () => {
  it('delivers what it accepted', async (t) => {
    const say = (line: string): void => t.diagnostic(line);
    const [found] = await kills.prove({ scale: 'small', seed: 1, say });
    assert.deepEqual(found?.violations, []);
    assert.deepEqual(found?.events, { accepted: 1_000, lost: 0 });
    assert.ok(Number(found?.figures['SIGKILL']) >= 1, JSON.stringify(found?.figures));
  });
});

describe('judge', () => {
  /** Three events that came as acknowledged, all from the first of two processes. */
  const sound = (): Book => {
    const book = newBook(3);
    for (let number = 0; number < 3; number += 1) {
      book.answeredAs[number] = book.cameAs[number] = brief(`evt_${number}`);
      book.cameFrom[number] = 1;
    }
    book.counters[count.answered] = 3;
    return book;
  };
  const flaws = (book: Book): string[] => judge(book, ['SIGTERM', 'SIGKILL'], 4).violations;

  it('finds nothing if every event came', () => assert.deepEqual(flaws(sound()), []));

  it('finds events that never came', () => {
    const book = sound();
    book.cameAs[1] = 0;
    assert.match(flaws(book)[0] ?? '', /^I1: 1 accepted events never came, number 1/);
  });

  it('finds an event that came with another id, even after a missing one', () => {
    const book = sound();
    book.cameAs[0] = 0;
    book.cameAs[2] = brief('evt_other');
    assert.match(flaws(book)[1] ?? '', /^I13: number 2/);
  });

  it('allows duplicates of deliveries in flight at a kill, and none after a stop', () => {
    const book = sound();
    book.repeats[2] = 4;
    assert.deepEqual(flaws(book), []);
    book.repeats[2] = 5;
    assert.match(flaws(book)[0] ?? '', /^I5: 5 deliveries of process 2/);
    book.repeats.set([0, 1, 0]);
    assert.match(
      flaws(book)[0] ?? '',
      /^I5: 1 deliveries of process 1 were made again after SIGTERM/,
    );
  });
});
