// A hundred thousand subscriptions of which one matches each event, against ten.
import { strict as assert } from 'node:assert';
import type { Ringback } from '../contenders/ringback.ts';
import { startRingback, subscribed } from '../contenders/ringback.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage } from '../harness/measure.ts';
import { peakRssMiB } from '../harness/cpu-and-memory.ts';

const receivers = 10;
const sending = { requests: 20_000, connections: 64 };
const few = 'ten subscriptions';

export const manySubscriptions: Scenario = {
  name: 'many-subscriptions',
  title: 'Many subscriptions, one match',
  about:
    'One event to one receiver, on SQLite, next to a hundred thousand subscriptions (a million with ' +
    '--large) that match other events, and next to none.',
  run: async ({ rounds, isLarge }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const others = isLarge ? 1_000_000 : 100_000;
    const many = `${others.toLocaleString('en-US')} subscriptions more`;
    const alone = await subscribed(made.use(await startRingback({ name: few })), stage.ports);
    const crowded = await subscribed(made.use(await startRingback({ name: many })), stage.ports);
    await crowd(crowded, { count: others, port: stage.ports[0] ?? 0 });
    const results = await inRounds(
      rounds,
      new Map(
        [alone, crowded].map((each) => [each.name, async () => measure(stage, each, sending)]),
      ),
    );
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
    const peakMiB = peakRssMiB(crowded.pid);
    return {
      rows: [...results.keys()].map((name) => ({
        name,
        cells: [{ column: 'events/s', value: spreadOf(rates(name)) }],
      })),
      checks: [
        {
          what: `${many}, of ${few}`,
          value: ratiosOf(rates(many), rates(few)),
          bound: { atLeast: 0.8 },
        },
        {
          what: `${many}: memory at most, MiB`,
          value: spreadOf([peakMiB]),
          bound: { atMost: 400 },
        },
      ],
    };
  },
};

const subscribingAtOnce = 64;

/** Subscriptions to event names that are never published. */
export async function crowd(
  { call }: Ringback,
  { count, port, event }: { count: number; port: number; event?: string },
): Promise<void> {
  let next = 0;
  const callbackUrl = `http://127.0.0.1:${port}/`;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const i = next;
      next += 1;
      const query = new URLSearchParams({ callbackUrl, event: event ?? `crowd.n${i}` });
      const { subscriberId } = await call('POST', `/subscribe?${query.toString()}`);
      assert(typeof subscriberId === 'string');
    }
  };
  await Promise.all(Array.from({ length: subscribingAtOnce }, lane));
}
