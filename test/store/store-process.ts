// A process with an open store, for tests that need a second process or one to kill.
// Run: node child.ts <data folder> <hold | subscribe | deliver>. It speaks in lines on its standard output.
import { strict as assert } from 'node:assert';
import { writeSync } from 'node:fs';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { realWorld } from '../../src/core/base/world.ts';
import { CannotOpenStore, type Store } from '../../src/store/port/store.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import { openEmbedded } from '../../src/store/open/open.ts';
import { newApp, newSubscription } from './subject.ts';
import { settlementOf } from './settlement.ts';
import { newId } from './open-memory.ts';

const callers = 16;
const [dataDir = '', task] = process.argv.slice(2);
try {
  const store = await openEmbedded({ dataDir, world: realWorld(), onFatal: fail });
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
  if (task === 'deliver') await deliverForever(store);
  say('opened'); // The store's threads keep the process alive.
} catch (error) {
  if (!(error instanceof CannotOpenStore)) throw error;
  say(`refused ${error.code} ${error.message}`);
}

/** Publishes, claims and settles in a loop, and prints what was acknowledged. */
async function deliverForever(store: Store): Promise<void> {
  const app = await newApp(store);
  say(`app ${app.no}`);
  for (let i = 0; i < 3; i += 1) {
    const subscription = newSubscription(app);
    await store.edit('subscribe', { subscription, idempotency: undefined });
  }
  const start = { name: 'child', role: 'all', version: '1', aloneHere: true } as const;
  const { node } = await store.edit('startNode', start);
  let leases = node * 2 ** 32;
  const offer = (): Offer => {
    leases += 1;
    return { lease: leases, room: 20, free: new Map(), inFlight: new Map(), laneRoom: 4 };
  };
  const finish = async (leased: Leased): Promise<void> => {
    const isFailure = leased.attempts === 0 && leased.n === 0;
    const settlement = settlementOf(leased, isFailure ? 'retry' : 'delivered', Date.now());
    await store.settle(settlement);
    if (!isFailure) say(`end ${leased.event} ${leased.n}`);
    store.work();
  };
  const finishAll = (all: readonly Leased[]): void => {
    for (const leased of all) finish(leased).catch(fail);
  };
  store.attach({
    offer,
    take: (fresh) => finishAll(fresh),
    claim: offer,
    fanOut: () => undefined,
    wake: () => undefined,
    refused: () => fail(new Error('the store failed')),
    worked: ({ claimed }) => finishAll(claimed),
  });
  await Promise.all(
    Array.from({ length: callers }, async () => {
      for (;;) {
        const event = { id: newId(), name: 'a', payload: Buffer.alloc(300) };
        const output = await store.edit('publish', {
          appNo: app.no,
          contract: 'Ringback',
          events: [event],
          audience: { kind: 'everyone' },
          idempotency: undefined,
        });
        assert.equal(output.kind, 'accepted');
        say(`ack ${event.id}`);
      }
    }),
  );
}

/** Synchronous, so that a kill cannot lose a printed line. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function fail(error: Error): void {
  throw error;
}
