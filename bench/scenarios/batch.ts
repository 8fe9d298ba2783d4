// A hundred events per request, against one by one.
import { inBatches, startRingback, subscribed } from '../contenders/ringback.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage } from '../harness/measure.ts';

const receivers = 10;
const singles = { requests: 20_000, connections: 64 };
const batches = { requests: 400, connections: 8 };

export const batch: Scenario = {
  name: 'batch',
  title: 'Publishing in batches',
  about:
    'The same service on SQLite, one event to one receiver, published in batches of 100 and one at a time. ' +
    'Events per second from the first request to the last arrival.',
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const ringback = made.use(await startRingback({ name: 'one by one' }));
    const single = await subscribed(ringback, stage.ports);
    const many = inBatches(single);
    const results = await inRounds(
      rounds,
      new Map([
        ['one by one', async () => measure(stage, single, singles)],
        ['a hundred at a time', async () => measure(stage, many, batches)],
      ]),
    );
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
    return {
      rows: [...results].map(([name, all]) => ({
        name,
        cells: [
          { column: 'events/s', value: spreadOf(rates(name)) },
          { column: 'of one by one', value: ratiosOf(rates(name), rates('one by one')) },
          { column: 'CPU µs an event', value: spreadOf(all.map(({ cpuUs }) => cpuUs)) },
        ],
      })),
      checks: [],
    };
  },
};
