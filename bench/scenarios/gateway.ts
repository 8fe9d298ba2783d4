// What a gateway costs: requests that Ringback passes on to an API, next to a bare proxy and nginx.
import { startApi, startHttpProxy, startNginx, type Gateway } from '../contenders/gateways.ts';
import { startRingback } from '../contenders/ringback.ts';
import type { Load } from '../harness/load.ts';
import { measureAnswers, openStage } from '../harness/measure.ts';
import { samplePayload } from '../harness/numbered-payloads.ts';
import type { Check, Row, Scenario } from '../harness/outcome.ts';
import { ratiosOf, spreadOf } from '../harness/round-statistics.ts';
import { inRounds } from '../harness/rounds.ts';

const sending = { path: '/jobs', requests: 20_000, connections: 64, perSecond: undefined };
const [bare, ours, fast, none] = ['@fastify/http-proxy', 'Ringback', 'nginx', 'no gateway'];
const body = JSON.stringify({ documents: [samplePayload(), samplePayload()] });

interface Kind {
  load: Pick<Load, 'method' | 'headers' | 'bodies'>;
  status: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  GET: { load: { method: 'GET', headers: {}, bodies: [''] }, status: '200' },
  POST: {
    load: { method: 'POST', headers: { 'content-type': 'application/json' }, bodies: [body] },
    status: '201',
  },
};

export const gateway: Scenario = {
  name: 'gateway',
  title: 'In front of an API',
  about:
    `GET and POST of 1 KB over ${sending.connections} connections to a small API on \`node:http\`: through Ringback ` +
    `with \`--upstream\` (on SQLite), through a bare \`${bare}\`, and through nginx with one worker. The API and the load ` +
    'take their part of the same cores; the CPU time is that of the gateway alone.',
  run: async ({ rounds }) => {
    await using made = new AsyncDisposableStack();
    const stage = made.use(await openStage(1));
    const api = made.use(await startApi(none));
    const upstream = `http://127.0.0.1:${api.port}`;
    const proxy = made.use(await startHttpProxy(bare, upstream));
    const ringback = made.use(await startRingback({ name: ours, args: ['--upstream', upstream] }));
    const nginx = await startNginx(fast, upstream);
    if (nginx !== undefined) made.use(nginx);
    const gateways: Gateway[] = [
      proxy,
      { ...ringback, port: ringback.publish.port },
      ...(nginx === undefined ? [] : [nginx]),
      api,
    ];
    const parts = Object.entries(kinds).flatMap(([kind, { load, status }]) =>
      gateways.map(({ name, port, pids }) => {
        const all: Load = { ...sending, ...load, port };
        return [
          `${kind}, ${name}`,
          async () => measureAnswers(stage, all, { pids, status }),
        ] as const;
      }),
    );
    const results = await inRounds(rounds, new Map(parts));
    const rates = (kind: string, name: string): number[] =>
      (results.get(`${kind}, ${name}`) ?? []).map(({ perSecond }) => perSecond);
    const rowsOf = (kind: string): Row[] =>
      gateways.map(({ name }) => ({
        name: `${kind}, ${name}`,
        cells: [
          { column: 'requests/s', value: spreadOf(rates(kind, name)) },
          { column: `of ${bare}`, value: ratiosOf(rates(kind, name), rates(kind, bare)) },
          {
            column: 'CPU µs a request',
            value: spreadOf((results.get(`${kind}, ${name}`) ?? []).map(({ cpuUs }) => cpuUs)),
          },
        ],
      }));
    const checkOf = (kind: string, other: string, atLeast: number): Check => ({
      what: `${kind}: ${ours}, of ${other}`,
      value: ratiosOf(rates(kind, ours), rates(kind, other)),
      bound: { atLeast },
    });
    return {
      rows: Object.keys(kinds).flatMap(rowsOf),
      checks: Object.keys(kinds).flatMap((kind) => [
        checkOf(kind, bare, 0.8),
        ...(nginx === undefined ? [] : [checkOf(kind, fast, 0.5)]),
      ]),
      skipped: nginx === undefined ? ['nginx: it was not found'] : [],
    };
  },
};
