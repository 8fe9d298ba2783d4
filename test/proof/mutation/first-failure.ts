// A reporter for `node --test --test-isolation=none` that exits at the first failed test: one failure is enough to kill
// a mutant.
import { writeSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

const stdout = 1;

// oxlint-disable-next-line import/no-default-export -- Node takes a reporter as a default export.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:fail') continue;
    writeSync(stdout, `${event.data.name}\n`); // Synchronously, since the next test may block the thread forever.
    process.exit(1);
    yield '';
  }
}
