// What it costs to register the callbacks of requests on their way to an API, next to a bare proxy that only passes them on.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApi, startHttpProxy, type Gateway } from '../contenders/gateways.ts';
import { startRingback, type Ringback } from '../contenders/ringback.ts';
import { startDatabases } from '../harness/databases.ts';
import { measureAnswers, openStage } from '../harness/measure.ts';
import { samplePayload } from '../harness/numbered-payloads.ts';
import type { Scenario } from '../harness/outcome.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import { inRounds } from '../harness/rounds.ts';

const sending = { requests: 3_000, connections: 64, perSecond: undefined };
const bare = '@fastify/http-proxy';
const [onSqlite, onPostgres] = ['Ringback, SQLite', 'Ringback, PostgreSQL'];

const document = {
  openapi: '3.1.0',
  info: { title: 'Jobs', version: '1' },
  paths: {
    '/jobs': {
      post: {
        operationId: 'startJob',
        'x-ringback-subject': '$response.body#/jobId',
        requestBody: {
          content: {
            'application/json': {
              schema: { type: 'object', properties: { callbackUrl: { type: 'string' } } },
            },
          },
        },
        responses: { '201': { description: 'The job is queued.' } },
        callbacks: {
          onDone: {
            '{$request.body#/callbackUrl}': {
              post: { responses: { '204': { description: 'Understood' } } },
            },
          },
        },
      },
    },
  },
};

export const gatewayCallbacks: Scenario = {
  name: 'gateway-callbacks',
  title: 'In front of an API: operations with callbacks',
  about:
    `POST of 1 KB with a callback URL over ${sending.connections} connections to a small API on \`node:http\`. Ringback writes ` +
    'a subscription before the API gets the request, and confirms it, with the subject from the response, before the response ' +
    `leaves; both are on stable storage. A bare \`${bare}\` only passes the requests on. The API and the load take their ` +
    'part of the same cores.',
  run: async ({ rounds, latencyMs }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(1));
    const api = made.use(await startApi('API'));
    const upstream = `http://127.0.0.1:${api.port}`;
    const folder = await mkdtemp(join(tmpdir(), 'ringback-bench-'));
    made.defer(async () => rm(folder, { recursive: true, force: true }));
    const contract = join(folder, 'jobs.json');
    await writeFile(contract, JSON.stringify(document));
    const postgres = made.use(await startDatabases(latencyMs));
    const args = ['--contract', contract, '--upstream', upstream];
    const databaseUrl = await postgres.createDatabase('callbacks');
    const proxy = made.use(await startHttpProxy(bare, upstream));
    const sqlite = made.use(await startRingback({ name: onSqlite, args }));
    const shared = made.use(await startRingback({ name: onPostgres, databaseUrl, args }));
    const gateways: Pick<Gateway, 'name' | 'pids' | 'port'>[] = [
      proxy,
      ...[sqlite, shared].map((one) => ({ ...one, port: one.publish.port })),
    ];
    const callbackUrl = `http://127.0.0.1:${stage.ports[0]}/`;
    const bodies = [JSON.stringify({ callbackUrl, documents: [samplePayload(), samplePayload()] })];
    const headers = { 'content-type': 'application/json' };
    const load = { ...sending, path: '/jobs', headers, bodies };
    const parts = gateways.map(
      ({ name, port, pids }) =>
        [
          name,
          async () => measureAnswers(stage, { ...load, port }, { pids, status: '201' }),
        ] as const,
    );
    const results = await inRounds(rounds, new Map(parts));
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ perSecond }) => perSecond);
    const [body = ''] = bodies;
    for (const one of [sqlite, shared]) await assertRegistered(one, { headers, body });
    return {
      rows: gateways.map(({ name }) => ({
        name,
        cells: [
          { column: 'requests/s', value: spreadOf(rates(name)) },
          { column: `of ${bare}`, value: ratiosOf(rates(name), rates(bare)) },
          {
            column: 'CPU µs a request',
            value: spreadOf((results.get(name) ?? []).map(({ cpuUs }) => cpuUs)),
          },
        ],
      })),
      checks: [onSqlite, onPostgres].map((name) => ({
        what: `${name}, of ${bare}`,
        value: ratiosOf(rates(name), rates(bare)),
        bound: { atLeast: 0.5 },
      })),
    };
  },
};

/** Otherwise a gateway that registers nothing would win. */
async function assertRegistered(
  { url, call }: Ringback,
  { headers, body }: { headers: Readonly<Record<string, string>>; body: string },
): Promise<void> {
  const answer = await fetch(`${url}/jobs`, { method: 'POST', headers, body });
  const { jobId } = (await answer.json()) as { jobId?: unknown };
  const id = answer.headers.get('ringback-subscription');
  const { state, subject } = await call('GET', `/ringback/subscriptions/${id}`);
  assert.deepEqual([state, subject], ['active', jobId]);
}
