// A process that holds a store, for tests that need a second process or one that can be killed.
// Run: node child.ts <data folder> <hold | subscribe>. It speaks in lines on its standard output.
import { strict as assert } from 'node:assert';
import { writeSync } from 'node:fs';
import { realWorld } from '../../src/core/world.ts';
import { CannotOpenStore } from '../../src/store/cannot-open-store.ts';
import { openStore } from '../../src/store/open.ts';
import { newApp, newSubscription } from './contract.ts';

const callers = 16;
const [dataDir = '', task] = process.argv.slice(2);
try {
  const store = await openStore({ dataDir, world: realWorld(), onFatal: fail });
  if (task === 'subscribe') {
    const app = await newApp(store);
    say(`app ${app.no}`);
    await Promise.all(
      Array.from({ length: callers }, async () => {
        for (;;) {
          const subscription = newSubscription(app);
          const output = await store.edit('subscribe', { subscription, idempotency: undefined });
          assert.equal(output.kind, 'created');
          say(`ack ${subscription.id}`);
        }
      }),
    );
  }
  say('opened'); // And the store's threads keep the process alive.
} catch (error) {
  if (!(error instanceof CannotOpenStore)) throw error;
  say(`refused ${error.code} ${error.message}`);
}

/** Synchronous, so that a kill cannot take back what was said. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function fail(error: Error): void {
  throw error;
}
