// What checking payloads against the contract costs: publishes to a service whose document
// describes an order, and to one whose document accepts anything.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRingback, type Ringback } from '../contenders/ringback.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import type { Scenario } from '../harness/outcome.ts';
import { inRounds } from '../harness/rounds.ts';
import { measureAnswers, openStage } from '../harness/measure.ts';
import { makeOrder, orderSchemas } from '../parts/sample-order.ts';

const event = 'order.created';
const bodies = [JSON.stringify({ event, payload: makeOrder() })];
const sending = { bodies, requests: 10_000, connections: 64, perSecond: undefined };
const [checked, unchecked] = ['payloads are checked', 'anything passes'];

export const contract: Scenario = {
  name: 'contract',
  title: 'Payloads checked against the contract',
  about:
    'Publishes of an order of 800 bytes without subscribers, on SQLite: with a document that describes the ' +
    'order (nested, with formats, patterns and alternatives), and with one that accepts anything.',
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(1));
    const folder = await mkdtemp(join(tmpdir(), 'ringback-bench-contract-'));
    made.defer(async () => rm(folder, { recursive: true, force: true }));
    const start = async (name: string, schema: unknown): Promise<Ringback> => {
      const path = join(folder, `${name}.json`);
      await writeFile(path, JSON.stringify(documentOf(schema)));
      return made.use(await startRingback({ name, args: ['--contract', path] }));
    };
    const services = [
      await start(checked, { $ref: '#/components/schemas/Order' }),
      await start(unchecked, {}),
    ];
    const results = await inRounds(
      rounds,
      new Map(
        services.map(({ name, publish, pids }) => {
          const load = { ...publish, ...sending };
          return [name, async () => measureAnswers(stage, load, { pids, status: '202' })];
        }),
      ),
    );
    const rates = (name: string): number[] =>
      (results.get(name) ?? []).map(({ perSecond }) => perSecond);
    return {
      rows: [...results].map(([name, all]) => ({
        name,
        cells: [
          { column: 'events/s', value: spreadOf(rates(name)) },
          { column: 'of unchecked', value: ratiosOf(rates(name), rates(unchecked)) },
          { column: 'CPU µs an event', value: spreadOf(all.map(({ cpuUs }) => cpuUs)) },
        ],
      })),
      checks: [],
    };
  },
};

function documentOf(schema: unknown): unknown {
  const callback = {
    '{$request.query.url}': {
      'x-ringback-event': event,
      post: {
        requestBody: { content: { 'application/json': { schema } } },
        responses: { 200: { description: 'ok' } },
      },
    },
  };
  const parameters = [{ name: 'url', in: 'query', schema: { type: 'string' } }];
  return {
    openapi: '3.1.0',
    info: { title: 'bench', version: '1' },
    paths: {
      '/hook': {
        post: {
          parameters,
          callbacks: { order: callback },
          responses: { 201: { description: 'made' } },
        },
      },
    },
    components: { schemas: orderSchemas },
  };
}
