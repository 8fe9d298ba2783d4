// What users of the console cost publishers.
import { startRingback, subscribed, type Subscribed } from '../contenders/ringback.ts';
import { quantile, ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { machineMs } from '../harness/machine-clock.ts';
import { measure, openStage } from '../harness/measure.ts';

const receivers = 10;
const sending = { requests: 20_000, connections: 64 };
const [alone, watched] = ['no console users', 'four console users'];
const people = 4;
/** Each user requests these in turn, with a pause in between. */
const looks = [
  '/stats',
  '/deliveries?limit=50',
  '/deliveries?state=dead&limit=50',
  '/events?limit=50',
  '/subscriptions?limit=50',
];
const lookMs = 500;

export const consoleQueries: Scenario = {
  name: 'console',
  title: 'The console during load',
  about:
    `One event to one receiver, on SQLite, while ${people} people use lists and statistics, each twice a ` +
    'second, compared with no console users.',
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const started = made.use(await startRingback({ name: 'Ringback' }));
    const ringback = await subscribed(started, stage.ports);
    const waits: number[] = [];
    const results = await inRounds(
      rounds,
      new Map([
        [alone, async () => measure(stage, ringback, sending)],
        [
          watched,
          async () => {
            const stop = new AbortController();
            const looking = Array.from({ length: people }, async (_, who) =>
              look(ringback, { who, waits, signal: stop.signal }),
            );
            const measured = await measure(stage, ringback, sending);
            stop.abort();
            await Promise.all(looking);
            return measured;
          },
        ],
      ]),
    );
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
    return {
      rows: [...results.keys()].map((name) => ({
        name,
        cells: [
          { column: 'events/s', value: spreadOf(rates(name)) },
          { column: 'of none', value: ratiosOf(rates(name), rates(alone)) },
          ...(name === watched
            ? [{ column: 'look p95 ms', value: spreadOf([quantile(waits, 0.95)]) }]
            : []),
        ],
      })),
      checks: [],
    };
  },
};

async function look(
  { call }: Subscribed,
  { who, waits, signal }: { who: number; waits: number[]; signal: AbortSignal },
): Promise<void> {
  for (let i = who; !signal.aborted; i += 1) {
    const beganMs = machineMs();
    await call('GET', looks[i % looks.length] ?? '/stats');
    waits.push(machineMs() - beganMs);
    await new Promise((resolve) => void setTimeout(resolve, lookMs));
  }
}
