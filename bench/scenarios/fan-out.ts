// One event to many subscribers: how fast they receive it, and the effect on other publishers.
import { join } from 'node:path';
import type { Burst } from '../contenders/bare-undici.ts';
import type { Ringback, Subscribed } from '../contenders/ringback.ts';
import { startRingback, subscribed } from '../contenders/ringback.ts';
import { startChild } from '../harness/child-process.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import { samplePayload } from '../harness/numbered-payloads.ts';
import type { Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { machineMs } from '../harness/machine-clock.ts';
import { openStage, type Stage } from '../harness/measure.ts';
import { latencyOfOthers } from '../harness/latency-during-load.ts';
import { crowd } from './many-subscriptions.ts';

const receivers = 10;
const large = 100_000;
const small = 1_000;
const smallEvents = 50;
/** Publishes of others during the fan-out. */
const others = { requests: 1_500, connections: 32, perSecond: 300 };
const atOnce = 128;
const toAll = { event: 'all', events: 1, times: large };

export const fanOut: Scenario = {
  name: 'fan-out',
  title: 'Fan-out',
  about:
    `${smallEvents} events to ${small} subscribers each, and one event to ${large}, on SQLite. Callbacks ` +
    `per second, compared with undici alone, which sends ${atOnce} concurrent requests from one process to ` +
    `the same receivers. The large fan-out is repeated with ${others.requests} publishes of other events, ` +
    `${others.perSecond} per second, to measure their latency and the cost for the fan-out.`,
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const { ports } = stage;
    const bare = made.use(
      startChild<Burst, object>(join(import.meta.dirname, '..', 'contenders', 'bare-undici.ts')),
    );
    const ringback = await subscribed(made.use(await startRingback({ name: 'Ringback' })), ports);
    await spread(ringback, { count: small, event: 'some', ports });
    await spread(ringback, { count: large, event: 'all', ports });
    const calm: number[] = [];
    const busy: number[] = [];
    const results = await inRounds(
      rounds,
      new Map<string, () => Promise<number>>([
        [
          'undici alone',
          async () =>
            burst(stage, async () => bare.ask({ ports, count: small * smallEvents, atOnce })),
        ],
        [
          `1 to ${small}`,
          async () =>
            publishTo(stage, ringback, { event: 'some', events: smallEvents, times: small }),
        ],
        [`1 to ${large}`, async () => publishTo(stage, ringback, toAll)],
        [
          `1 to ${large}, others publish for ${others.requests / others.perSecond} s of it`,
          async () => {
            calm.push(await latencyOfOthers(stage, ringback, others));
            const rate = publishTo(stage, ringback, toAll);
            busy.push(await latencyOfOthers(stage, ringback, others));
            return rate;
          },
        ],
      ]),
    );
    const rates = (name: string): number[] => results.get(name) ?? [];
    const check = (name: string) => ({
      what: `${name}: callbacks/s, of undici alone`,
      value: ratiosOf(rates(name), rates('undici alone')),
      bound: { atLeast: 0.5 },
    });
    const added = busy.map((ms, round) => ms - (calm[round] ?? 0)).slice(1);
    return {
      rows: [...results.keys()].map((name) => ({
        name,
        cells: [
          { column: 'callbacks/s', value: spreadOf(rates(name)) },
          { column: 'of undici alone', value: ratiosOf(rates(name), rates('undici alone')) },
        ],
      })),
      checks: [
        check(`1 to ${small}`),
        check(`1 to ${large}`),
        {
          what: `1 to ${large}: added to the p99 of other publishes, ms`,
          value: spreadOf(added),
          bound: { atMost: 20 },
        },
      ],
    };
  },
};

async function spread(
  ringback: Ringback,
  { count, event, ports }: { count: number; event: string; ports: readonly number[] },
): Promise<void> {
  for (const port of ports) await crowd(ringback, { count: count / ports.length, port, event });
}

/** Callbacks per second, from the call to the last arrival. */
async function burst(stage: Stage, send: () => Promise<unknown>): Promise<number> {
  const count = small * smallEvents;
  await stage.expect(1, count);
  const startMs = machineMs();
  await send();
  const { lastMs } = await stage.until(count);
  return (count * 1_000) / (lastMs - startMs);
}

async function publishTo(
  stage: Stage,
  { call }: Subscribed,
  { event, events, times }: { event: string; events: number; times: number },
): Promise<number> {
  await stage.expect(1, events * times);
  const startMs = machineMs();
  for (let i = 0; i < events; i += 1) {
    await call('POST', '/events', { event, payload: samplePayload() });
  }
  const { lastMs } = await stage.until(events * times);
  return (events * times * 1_000) / (lastMs - startMs);
}
