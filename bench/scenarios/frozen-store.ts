// Whether an API behind Ringback is worse off when Ringback's store does not answer.
import { startApi } from '../contenders/gateways.ts';
import { startRingback } from '../contenders/ringback.ts';
import { startDatabases } from '../harness/databases.ts';
import { measureAnswers, openStage } from '../harness/measure.ts';
import { plainPayload } from '../harness/numbered-payloads.ts';
import type { Scenario } from '../harness/outcome.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import { inRounds } from '../harness/rounds.ts';

const sending = { requests: 30_000, connections: 64, perSecond: undefined };
const get = { method: 'GET', path: '/jobs', headers: {}, bodies: [''] } as const;
const publishes = 64;
const [answers, frozen] = ['PostgreSQL answers', 'PostgreSQL is frozen'];

export const frozenStore: Scenario = {
  name: 'frozen-store',
  title: 'Passing requests on while the store is frozen',
  about:
    `GET of 1 KB over ${sending.connections} connections through Ringback with \`--upstream\`, while ${publishes} ` +
    'publishes wait for PostgreSQL, whose processes either run or are stopped (SIGSTOP) from just before the first ' +
    'request until Ringback has noticed.',
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(1));
    const api = made.use(await startApi('API'));
    const postgres = made.use(await startDatabases(latencyMs));
    const databaseUrl = await postgres.createDatabase('frozen');
    const args = ['--upstream', `http://127.0.0.1:${api.port}`];
    const ringback = made.use(await startRingback({ name: 'Ringback', databaseUrl, args }));
    const { pids, publish, call, url } = ringback;
    const measureWhile = async (state: string): Promise<number> => {
      if (state === frozen) postgres.freeze();
      const event = { event: 'unheard', payload: plainPayload() };
      const pending = Promise.allSettled(
        Array.from({ length: publishes }, async () => call('POST', '/ringback/events', event)),
      );
      const load = { ...sending, ...get, port: publish.port };
      const { perSecond } = await measureAnswers(stage, load, { pids, status: '200' });
      if (state === frozen) await readiness(url, 503);
      postgres.thaw();
      await pending;
      await readiness(url, 200);
      return perSecond;
    };
    const parts = new Map(
      [answers, frozen].map((state) => [state, async () => measureWhile(state)]),
    );
    const results = await inRounds(2 * rounds - 1, parts); // The bound is close to 1.
    const rates = (name: string): number[] => results.get(name) ?? [];
    return {
      rows: [...parts.keys()].map((name) => ({
        name,
        cells: [
          { column: 'requests/s', value: spreadOf(rates(name)) },
          { column: 'of when it answers', value: ratiosOf(rates(name), rates(answers)) },
        ],
      })),
      checks: [
        {
          what: `${frozen}, of when it answers`,
          value: ratiosOf(rates(frozen), rates(answers)),
          bound: { atLeast: 0.95 },
        },
      ],
    };
  },
};

const lookEveryMs = 100;

/** Waits until Ringback is ready (200), or has noticed that its store does not answer (503). */
async function readiness(url: string, expected: 200 | 503): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/ringback/readyz`);
    await answer.text();
    if (answer.status === expected) return;
    await new Promise((resolve) => void setTimeout(resolve, lookEveryMs));
  }
}
