// A million subscriptions to one event, each about a subject of its own, of which one matches each event.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRingback, type Ringback } from '../contenders/ringback.ts';
import { copySubscriptions } from '../harness/copy-subscriptions.ts';
import { peakRssMiB } from '../harness/cpu-and-memory.ts';
import { measure, openStage } from '../harness/measure.ts';
import { samplePayload } from '../harness/numbered-payloads.ts';
import type { Scenario } from '../harness/outcome.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import { inRounds } from '../harness/rounds.ts';

const receivers = 10;
const others = 1_000_000;
const sending = { requests: 20_000, connections: 64 };
const [few, many] = ['ten subjects', `${others.toLocaleString('en-US')} subjects more`];

export const manySubjects: Scenario = {
  name: 'many-subjects',
  title: 'A million subjects, one match',
  about:
    'Events to one receiver each, on SQLite, by the subject of its subscription, next to a million subscriptions to ' +
    'the same event with other subjects, and next to none.',
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(receivers));
    const folder = await mkdtemp(join(tmpdir(), 'ringback-bench-subjects-'));
    made.defer(async () => rm(folder, { recursive: true, force: true }));
    const contract = join(folder, 'jobs.json');
    await writeFile(contract, JSON.stringify(document));
    const args = ['--contract', contract];
    const alone = made.use(await startRingback({ name: few, args }));
    await subscribeAll(alone, stage.ports);

    const first = await startRingback({ name: many, args, dataDir: folder });
    made.defer(async () => first[Symbol.asyncDispose]());
    const ids = await subscribeAll(first, stage.ports);
    await first.kill('SIGTERM');
    const copies = others / ids.length;
    copySubscriptions(
      folder,
      ids.map((id, at) => ({ id, copies, subjectOf: (copy) => `${subjectOf(at)}_${copy}` })),
    );
    const crowded = made.use(await startRingback({ name: many, args, dataDir: folder }));
    const middle = Math.floor(copies / 2);
    const parts = [
      { ...alone, publish: publishing(alone, subjectOf) },
      // To copies, so that it is they that must match.
      { ...crowded, publish: publishing(crowded, (at) => `${subjectOf(at)}_${middle}`) },
    ].map((one) => [one.name, async () => measure(stage, one, sending)] as const);
    const results = await inRounds(rounds, new Map(parts));
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ eventsPerSecond }) => eventsPerSecond);
    return {
      rows: [...results].map(([name, all]) => ({
        name,
        cells: [
          { column: 'events/s', value: spreadOf(rates(name)) },
          { column: 'CPU µs an event', value: spreadOf(all.map(({ cpuUs }) => cpuUs)) },
        ],
      })),
      checks: [
        {
          what: `time of an event with ${many}, of that with ${few}`,
          value: ratiosOf(rates(few), rates(many)),
          bound: { atMost: 1.2 },
        },
        {
          what: `${many}: memory at most, MiB`,
          value: spreadOf([peakRssMiB(crowded.pid)]),
          bound: { atMost: 400 },
        },
      ],
    };
  },
};

function subjectOf(at: number): string {
  return `job_${at}`;
}

/** One subscription per port, and their ids. */
async function subscribeAll({ call }: Ringback, ports: readonly number[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [at, port] of ports.entries()) {
    const query = new URLSearchParams({ url: `http://127.0.0.1:${port}/`, job: subjectOf(at) });
    const { subscriberId } = await call('POST', `/jobs?${query.toString()}`);
    ids.push(String(subscriberId));
  }
  return ids;
}

function publishing({ publish }: Ringback, subject: (at: number) => string): Ringback['publish'] {
  const bodies = Array.from({ length: receivers }, (_, at) =>
    JSON.stringify({ event: 'done', subject: subject(at), payload: samplePayload() }),
  );
  return { ...publish, bodies };
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Jobs', version: '1' },
  paths: {
    '/jobs': {
      post: {
        'x-ringback-subject': '$request.query.job',
        parameters: ['url', 'job'].map((name) => ({
          name,
          in: 'query',
          required: true,
          schema: { type: 'string' },
        })),
        responses: { 201: { description: 'Accepted' } },
        callbacks: { done: { '{$request.query.url}': { post: {} } } },
      },
    },
  },
};
