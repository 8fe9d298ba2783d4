// Whether costs grow with stored data: a backlog of a million, a restart on it, and a log of a
// million rows.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  inBatches,
  perBatch,
  setAll,
  startRingback,
  subscribed,
  type Subscribed,
} from '../contenders/ringback.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Outcome, Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { machineMs } from '../harness/machine-clock.ts';
import { measure, openStage, type Stage } from '../harness/measure.ts';
import { latencyOfOthers } from '../harness/latency-during-load.ts';
import { peakRssMiB } from '../harness/cpu-and-memory.ts';

const receivers = 10;
const sending = { requests: 20_000, connections: 64 };
/** Deliveries of a backlog that are measured at a time. */
const piece = 20_000;
const largest = 10_000_000;
/** Publishes of others while the backlog drains. */
const others = { requests: 1_000, connections: 32, perSecond: 200 };
const [fresh, grown] = ['an empty store', 'a grown one'];

export const growth: Scenario = {
  name: 'growth',
  title: 'A backlog and a history of a million',
  about:
    'Two services on SQLite, one with a million due deliveries (ten million with --large), one with only ' +
    'those of the round. Measured are the delivery rate and the latency of publishes meanwhile; the time ' +
    'from a start after kill -9 to the first delivery; and, when all deliveries are in the history, one ' +
    'event to one receiver.',
  run: async ({ rounds, isLarge }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const dataDir = await mkdtemp(join(tmpdir(), 'ringback-bench-grown-'));
    made.defer(async () => rm(dataDir, { recursive: true, force: true }));
    const empty = await subscribed(made.use(await startRingback({ name: fresh })), stage.ports);
    const first = await startRingback({ name: grown, dataDir });
    made.defer(async () => first.kill('SIGKILL'));
    const full = await subscribed(first, stage.ports);
    const rows = isLarge ? largest : 1_000_000;
    await pile(stage, full, rows);
    const draining = await drainInRounds(stage, { empty, full, rounds });
    const peaks = [peakRssMiB(first.pid)];
    await first.kill('SIGKILL');

    await countAll(stage);
    const startedMs = machineMs();
    const second = made.use(await startRingback({ name: grown, dataDir }));
    const readyMs = machineMs() - startedMs;
    const again: Subscribed = {
      ...full,
      ...second,
      publish: { ...full.publish, port: portOf(second.url) },
    };
    await setAll(again, 'active');
    const restartMs = (await stage.until(1)).lastMs - startedMs;
    await untilDrained(again);
    const logged = await logInRounds(stage, { empty, full: again, rounds });
    peaks.push(peakRssMiB(second.pid));
    return {
      rows: [...draining.rows, ...logged.rows],
      checks: [
        ...draining.checks,
        ...logged.checks,
        {
          what: 'first delivery after a restart on the backlog, s',
          value: spreadOf([restartMs / 1_000]),
          bound: { atMost: 2 },
        },
        {
          what: 'ready after that restart, s',
          value: spreadOf([readyMs / 1_000]),
          bound: { atMost: 2 },
        },
        {
          what: 'memory at most, MiB',
          value: spreadOf([Math.max(...peaks)]),
          bound: { atMost: 400 },
        },
      ],
    };
  },
};

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** From now on every arrival counts, whatever its number. */
async function countAll(stage: Stage): Promise<void> {
  await stage.expect(largest, Infinity);
}

async function pile(stage: Stage, ringback: Subscribed, deliveries: number): Promise<void> {
  await setAll(ringback, 'paused');
  const { publish } = inBatches(ringback);
  const requests = deliveries / perBatch;
  await stage.load({ ...publish, requests, connections: 8, perSecond: undefined });
}

interface Pair {
  empty: Subscribed;
  full: Subscribed;
  rounds: number;
}

/** Resumes the backlog until a piece of it has arrived, then pauses it again. */
async function drain(stage: Stage, ringback: Subscribed): Promise<{ rate: number; p99: number }> {
  await countAll(stage);
  const startMs = machineMs();
  await setAll(ringback, 'active');
  const waits = latencyOfOthers(stage, ringback, others);
  const { lastMs } = await stage.until(piece);
  const rate = (piece * 1_000) / (lastMs - startMs);
  await setAll(ringback, 'paused');
  return { rate, p99: await waits };
}

async function drainInRounds(stage: Stage, { empty, full, rounds }: Pair): Promise<Outcome> {
  const results = await inRounds(
    rounds,
    new Map([
      [
        fresh,
        async () => {
          await pile(stage, empty, piece);
          const drained = await drain(stage, empty);
          await setAll(empty, 'active');
          await untilDrained(empty);
          return drained;
        },
      ],
      [grown, async () => drain(stage, full)],
    ]),
  );
  const rates = (name: string): number[] => (results.get(name) ?? []).map(({ rate }) => rate);
  return {
    rows: [...results].map(([name, all]) => ({
      name: `while a backlog drains, ${name}`,
      cells: [
        { column: 'deliveries/s', value: spreadOf(rates(name)) },
        { column: 'publish p99 ms', value: spreadOf(all.map(({ p99 }) => p99)) },
      ],
    })),
    checks: [
      {
        what: 'deliveries/s from the backlog, of an empty store',
        value: ratiosOf(rates(grown), rates(fresh)),
        bound: { atLeast: 0.8 },
      },
    ],
  };
}

async function logInRounds(stage: Stage, { empty, full, rounds }: Pair): Promise<Outcome> {
  const results = await inRounds(
    rounds,
    new Map([
      [fresh, async () => measure(stage, empty, sending)],
      [grown, async () => measure(stage, full, sending)],
    ]),
  );
  const rates = (name: string): number[] =>
    (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
  return {
    rows: [...results.keys()].map((name) => ({
      name: `one to one, ${name}`,
      cells: [{ column: 'deliveries/s', value: spreadOf(rates(name)) }],
    })),
    checks: [
      {
        what: 'one to one with all of that in the log, of an empty store',
        value: ratiosOf(rates(grown), rates(fresh)),
        bound: { atLeast: 0.8 },
      },
    ],
  };
}

const lookEveryMs = 250;

/** Waits until nothing is due. */
async function untilDrained({ call }: Subscribed): Promise<void> {
  for (;;) {
    const { items } = await call('GET', '/deliveries?state=due&limit=1');
    if (Array.isArray(items) && items.length === 0) return;
    await new Promise((resolve) => void setTimeout(resolve, lookEveryMs));
  }
}
