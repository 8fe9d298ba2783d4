// A reporter for `node --test --test-isolation=none` that ends the process at the first test that fails: of a
// mutant no more is to be known.
import { writeSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';

const stdout = 1;

// oxlint-disable-next-line import/no-default-export -- Node takes a reporter as a default export.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type !== 'test:fail') continue;
    writeSync(stdout, `${event.data.name}\n`); // At once: the next test may never let go of the thread.
    process.exit(1);
    yield '';
  }
}
