// One, two and three nodes on one PostgreSQL. They share the cores of one machine, so this shows
// the cost of coordination, not the gain of more machines.
import { startDatabases } from '../harness/databases.ts';
import { startRingback, subscribed, type Ringback } from '../contenders/ringback.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measure, openStage } from '../harness/measure.ts';

const receivers = 10;
const sending = { requests: 10_000, connections: 64 };
const counts = [1, 2, 3];

export const nodes: Scenario = {
  name: 'nodes',
  title: 'One, two and three nodes',
  about:
    'One event to one receiver on PostgreSQL, published to one node and delivered by all. Each number of ' +
    'nodes has its own database. Everything runs on the same machine.',
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const postgres = made.use(await startDatabases(latencyMs));
    const parts = new Map<string, () => ReturnType<typeof measure>>();
    for (const count of counts) {
      const databaseUrl = await postgres.createDatabase(`nodes${count}`);
      const all: Ringback[] = [];
      for (let no = 1; no <= count; no += 1) {
        const args = ['--node-name', `n${no}`];
        all.push(made.use(await startRingback({ name: `n${no}`, databaseUrl, args })));
      }
      const [first] = all;
      if (first === undefined) continue;
      const ready = await subscribed(first, stage.ports);
      const pids = all.map(({ pid }) => pid);
      parts.set(nameOf(count), async () => measure(stage, { ...ready, pids }, sending));
    }
    const results = await inRounds(rounds, parts);
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
    return {
      rows: [...results].map(([name, all]) => ({
        name,
        cells: [
          { column: 'events/s', value: spreadOf(rates(name)) },
          { column: 'of one node', value: ratiosOf(rates(name), rates(nameOf(1))) },
          { column: 'CPU µs an event', value: spreadOf(all.map(({ cpuUs }) => cpuUs)) },
        ],
      })),
      checks: [],
    };
  },
};

function nameOf(count: number): string {
  return count === 1 ? 'one node' : `${count} nodes`;
}
