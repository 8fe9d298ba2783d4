// More publishes than the service can take, and what must hold: it answers every request, keeps every promise that
// it made, does not grow, and is back to normal afterwards.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newFolder, serve, type Serving } from '../cli/ringback-process.ts';
import type { FloodOrder, FloodReport } from './flood.ts';
import { header, receive, type Receiver } from './receiver.ts';
import { Tally } from './awaitable-count.ts';

export interface OverloadReport {
  /** Requests a second that it answered with 202 before the flood; 0 where the load is a count, as the next two. */
  capacity: number;
  /** What was offered and what was accepted during the flood, in requests a second. */
  offered: number;
  accepted: number;
  answers: Record<string, number>;
  /** Requests that found no free socket: all were waiting for answers. */
  unsent: number;
  /** Half of the answers came sooner, and one in a hundred later. */
  acceptedMs: Percentiles;
  refusedMs: Percentiles;
  /** Of probes and reads during the flood. */
  lookMs: Percentiles;
  /** From a publish to its callback, before the flood and after it. */
  calmMs: number;
  recoveredMs: number;
  peakMiB: number;
}

type Percentiles = [half: number, most: number];

const key = 'k'.repeat(40);
const sockets = 1_000;
const eventsPerRequest = 20;
/** One event of the first body is heard by somebody, so that deliveries keep up with publishing. */
const bodies = 4;
const timesCapacity = 10;
/** A service on a starved machine may find no time to accept any of a flood before it gives up: it gets another one. */
const floodsMax = 5;
const calmLooks = 5;
/** The process has 230 MiB before the flood; what it may have at most, whatever comes. */
const peakMiBMax = 640;
/** On a machine that is busy with other things everything takes longer, also before the flood. */
const recoverMs = 5_000;

/** A count of requests, which any machine gets through, or ten times the measured capacity for a while. */
export type Overload = { requests: number } | { forMs: number };

export async function overload(load: Overload): Promise<OverloadReport> {
  await using folder = await newFolder();
  await using stage = await setUp(folder.path);
  const calm: number[] = [];
  for (let look = 0; look < calmLooks; look += 1) calm.push(await stage.roundTripMs());
  const calmMs = Math.max(...calm);
  const isTimed = 'forMs' in load;
  const few = isTimed ? { rate: 1_000_000, forMs: 2_000 } : { requests: 200 };
  const before = await stage.flood({ load: few, sockets: 32 });
  assert.equal(before.answers['503 overloaded'], undefined, 'nothing is refused before the flood');
  const capacity = isTimed ? (before.answers['202'] ?? 0) / 2 : 0;
  const rate = Math.ceil(capacity * timesCapacity);
  const looking = stage.look(isTimed ? [200] : [200, 503]);
  const order = { load: isTimed ? { rate, ...load } : load, sockets };
  const floods: FloodReport[] = [];
  let during = before;
  do floods.push((during = await stage.flood(order)));
  while (during.accepted.length === 0 && floods.length < floodsMax);
  const floodEndMs = performance.now();
  await stage.roundTripMs();
  const recoveredMs = performance.now() - floodEndMs;
  const lookMs = await looking.stop();
  const peakMiB = stage.peakMiB();

  for (const { answers, broken } of floods) {
    assertAnswers(answers);
    assert.equal(broken, 0, 'every request is answered');
  }
  assert.ok(during.accepted.length > 0, 'some are accepted');
  assert.ok(peakMiB < peakMiBMax, `${peakMiB} MiB`);
  if (isTimed) assertRates(during.answers, { forMs: load.forMs, capacity, recoveredMs, calmMs });
  await stage.checkPromises([before, ...floods]);
  return {
    capacity,
    offered: rate,
    accepted: isTimed ? Math.round(((during.answers['202'] ?? 0) * 1_000) / load.forMs) : 0,
    answers: during.answers,
    unsent: during.unsent,
    acceptedMs: percentiles(during.acceptedMs),
    refusedMs: percentiles(during.refusedMs),
    lookMs: percentiles(lookMs),
    calmMs: Math.round(calmMs),
    recoveredMs: Math.round(recoveredMs),
    peakMiB,
  };
}

type Answers = FloodReport['answers'];

function assertAnswers(answers: Answers): void {
  const {
    '202': _taken,
    '503 overloaded': refused,
    '503 store_unavailable': _,
    ...other
  } = answers;
  assert.deepEqual(other, {}, 'every answer is 202 or 503');
  assert.ok(refused !== undefined, 'some are refused');
}

/** For `npm run soak` on a quiet machine: these depend on its speed. */
function assertRates(
  { '202': taken = 0, '503 overloaded': refused = 0, '503 store_unavailable': silent = 0 }: Answers,
  seen: { forMs: number; capacity: number; recoveredMs: number; calmMs: number },
): void {
  const { forMs, capacity, recoveredMs, calmMs } = seen;
  assert.ok(refused > taken, 'most are refused');
  assert.ok(silent < refused / 10, 'and early, before they wait for the store');
  assert.ok(taken / (forMs / 1_000) > capacity / 10, `${taken} accepted in ${forMs} ms`);
  assert.ok(recoveredMs < recoverMs + 10 * calmMs, `took ${recoveredMs} ms, before ${calmMs}`);
}

interface Stage extends AsyncDisposable {
  flood: (order: Pick<FloodOrder, 'load' | 'sockets'>) => Promise<FloodReport>;
  /** Publishes until it is accepted, and waits for the callback. */
  roundTripMs: () => Promise<number>;
  /** Probes and reads again and again. Probes must answer 200, and reads one of these. */
  look: (reads: readonly number[]) => { stop: () => Promise<number[]> };
  peakMiB: () => number;
  /** Every event that was accepted is delivered, if anybody hears it, and on the disk. */
  checkPromises: (reports: readonly FloodReport[]) => Promise<void>;
}

async function setUp(dataDir: string): Promise<Stage> {
  const serving = await serve({
    RINGBACK_DATA: dataDir,
    RINGBACK_API_KEY: key,
    RINGBACK_LOG: 'silent',
  });
  const probed = await receive();
  const heard = new Set<string>();
  const came = new Tally('events came to the receiver');
  const receiver = await receive((request) => {
    heard.add(header(request, 'webhook-id'));
    came.add();
    return 200;
  });
  await subscribe(serving, receiver, 'load.heard');
  await subscribe(serving, probed, 'probe.made');
  let probes = 0;
  return {
    flood: async (order) => flood({ ...order, url: serving.url, key, ...publishing }),
    roundTripMs: async () => {
      const startMs = performance.now();
      probes += 1;
      await untilAccepted(serving);
      await probed.waitFor(probes);
      return performance.now() - startMs;
    },
    look: (reads) => lookAt(serving, reads),
    peakMiB: () => peakMiBOf(serving),
    checkPromises: async (reports) => {
      const accepted = reports.flatMap((report) => report.accepted);
      const heardOf = accepted.filter(({ body }) => body === 0);
      const expected = heardOf.map(({ eventIds: [first = ''] }) => first);
      // One by one, so that the patience is for each: how many there are depends on the machine, and
      // those whose publisher was told that nobody knows come as well.
      while (expected.some((id) => !heard.has(id))) await came.reach(came.count + 1);
      serving.signal('SIGTERM');
      await serving.ended;
      const kept = eventsIn(dataDir);
      const lost = accepted.flatMap(({ eventIds }) => eventIds).filter((id) => !kept.has(id));
      assert.equal(lost.length, 0, `what was accepted is in the store, but for ${lost[0]}`);
    },
    [Symbol.asyncDispose]: async () => {
      await serving[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
      await probed[Symbol.asyncDispose]();
    },
  };
}

const publishing = {
  path: '/events/batch',
  bodies: Array.from({ length: bodies }, (_body, body) =>
    JSON.stringify({
      events: Array.from({ length: eventsPerRequest }, (_event, index) => ({
        event: body + index === 0 ? 'load.heard' : 'load.unheard',
        payload: { message: `number ${index} of many`.repeat(5) },
      })),
    }),
  ),
} as const;

async function flood(order: FloodOrder): Promise<FloodReport> {
  const child = fork(join(import.meta.dirname, 'flood.ts'), { serialization: 'advanced' });
  const { promise, resolve, reject } = Promise.withResolvers<FloodReport>();
  child.on('message', (report) => resolve(report as FloodReport));
  child.on('error', reject);
  child.on('exit', (code) => reject(new Error(`the flood ended with ${code}`)));
  child.send(order);
  try {
    return await promise;
  } finally {
    child.kill();
  }
}

async function call(serving: Serving, path: string, more: RequestInit = {}): Promise<Response> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  return fetch(serving.url + path, { headers, ...more });
}

async function subscribe(serving: Serving, { url }: Receiver, event: string): Promise<void> {
  const target = encodeURIComponent(url);
  const path = `/subscribe?callbackUrl=${target}&event=${event}`;
  const answer = await call(serving, path, { method: 'POST' });
  assert.equal(answer.status, 201, await answer.text());
}

async function untilAccepted(serving: Serving): Promise<void> {
  for (;;) {
    const body = JSON.stringify({ event: 'probe.made', payload: { message: 'are you there' } });
    const answer = await call(serving, '/events', { method: 'POST', body });
    await answer.text();
    if (answer.status === 202) return;
    assert.equal(answer.status, 503);
  }
}

function lookAt(serving: Serving, reads: readonly number[]): { stop: () => Promise<number[]> } {
  const over = new AbortController();
  const look = async (): Promise<number[]> => {
    const tookMs: number[] = [];
    while (!over.signal.aborted) {
      for (const path of ['/healthz', '/readyz', '/subscriptions', '/nodes']) {
        const startMs = performance.now();
        const answer = await call(serving, path);
        const expected = path === '/healthz' ? [200] : reads;
        const text = await answer.text();
        assert.ok(expected.includes(answer.status), `${path}: ${answer.status} ${text}`);
        tookMs.push(performance.now() - startMs);
      }
    }
    return tookMs.sort((a, b) => a - b);
  };
  const looked = look();
  looked.catch(() => undefined); // Heard of at the stop.
  return {
    stop: async () => {
      over.abort();
      return looked;
    },
  };
}

/** Linux only, where the tests run; elsewhere nothing is known. */
function peakMiBOf({ pid }: Serving): number {
  if (process.platform !== 'linux') return 0;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1_024);
}

function eventsIn(dataDir: string): Set<string> {
  const db = new DatabaseSync(join(dataDir, 'ringback.db'), { readOnly: true });
  try {
    const ids = db.prepare('select id from event').all();
    return new Set(ids.map(({ id }) => `evt_${String(id)}`));
  } finally {
    db.close();
  }
}

function percentiles(ascending: readonly number[]): Percentiles {
  const at = (part: number): number =>
    Math.round(ascending[Math.floor((ascending.length - 1) * part)] ?? 0);
  return [at(0.5), at(0.99)];
}
