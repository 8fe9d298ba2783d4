// What the guarantees of send() cost: requests per second of the sender and of a bare undici
// dispatch, to one server in a process of its own, in turns within one run. Prints medians and
// their ratio, also of the CPU time per request, which depends less on the load of the machine.
// Run: node bench/parts/sender-cost.ts
import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Pool } from 'undici';
import { realWorld } from '../../src/core/base/world.ts';
import { createGuard } from '../../src/egress/guard/guard.ts';
import { parseAllowTargets } from '../../src/egress/guard/allow-list.ts';
import { callbackHeaders } from '../../src/egress/sign/request-head.ts';
import { createSender } from '../../src/egress/http/send.ts';
import { sign } from '../../src/egress/sign/sign.ts';

const rounds = 31;
const roundMs = 300;
const callers = 64;

const body = Buffer.from(JSON.stringify({ message: 'x'.repeat(500) }));
const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`];
const signable = { id: 'evt_01jcbenchbenchbenchbenchbe', timestampS: 1_800_000_000, secrets };
const headers = callbackHeaders({
  mediaType: 'application/json',
  eventId: signable.id,
  eventName: 'order.created',
  delivery: 'dlv_01jcbenchbenchbenchbenchbe_0',
  subscription: 'sub_01jcbenchbenchbenchbenchbe',
  attempt: 1,
  hops: 1,
  timestampS: signable.timestampS,
  signature: sign({ ...signable, payload: body }),
});

const flat = headers.flat();

if (process.send !== undefined) await serve();
else await compare();

async function compare(): Promise<void> {
  const child = fork(import.meta.filename);
  const [port] = await once(child, 'message');
  assert(typeof port === 'number');
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: callers, allowH2: false });
  const world = realWorld();
  const read = parseAllowTargets('loopback');
  assert(read.kind === 'allow');
  const guard = createGuard({
    policy: { allow: read.allow, requireHttps: false },
    resolver: { resolve: async () => ({ kind: 'addresses', addresses: ['127.0.0.1'] }) },
  });
  const sender = createSender({ guard, world });
  const url = `http://hooks.example.com:${port}/hook`;
  const bare = async (): Promise<void> => bareSend(pool);
  const ours = async (): Promise<void> => {
    const request = { app: 1, method: 'POST', url, headers, body, timeoutMs: 15_000 };
    const result = await sender.send(request, { onStart: () => true });
    assert(result.kind === 'answered' && result.status === 200);
  };
  process.on('exit', () => child.kill());
  await measure(bare); // Warm-up.
  await measure(ours);
  const taken = { bare: new Array<Taken>(), ours: new Array<Taken>() };
  for (let round = 0; round < rounds; round += 1) {
    taken.bare.push(await measure(bare));
    taken.ours.push(await measure(ours));
  }
  const rates = [taken.bare, taken.ours].map((all) => median(all.map(({ rate }) => rate)));
  const cpus = [taken.bare, taken.ours].map((all) => median(all.map(({ cpuUs }) => cpuUs)));
  const [bareRate = 0, ourRate = 0] = rates;
  const [bareCpu = 0, ourCpu = 0] = cpus;
  console.log(`${callers} callers     requests/s   µs of CPU each`);
  console.log(
    `bare dispatch   ${bareRate.toFixed(0).padStart(8)}   ${bareCpu.toFixed(1).padStart(10)}`,
  );
  console.log(
    `send()          ${ourRate.toFixed(0).padStart(8)}   ${ourCpu.toFixed(1).padStart(10)}`,
  );
  console.log(`ratio           ${ratio(ourRate, bareRate)}   ${ratio(bareCpu, ourCpu)}`);
  console.log(`sign(): ${signMicroseconds().toFixed(1)} µs each`);
  await pool.close();
  await sender.close();
  child.kill();
}

/** The minimum that still sends the request and reads the whole answer. */
async function bareSend(pool: Pool): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  pool.dispatch(
    { path: '/hook', method: 'POST', headers: flat, body },
    {
      onRequestStart: () => undefined,
      onResponseStart: (_controller, status) => assert.equal(status, 200),
      onResponseData: (_controller, chunk) => void chunks.push(chunk),
      onResponseEnd: () => resolve(),
      onResponseError: (_controller, error) => reject(error),
    },
  );
  await promise;
}

interface Taken {
  /** Requests per second. */
  rate: number;
  cpuUs: number;
}

/** Each caller sends again as soon as it is answered. */
async function measure(send: () => Promise<void>): Promise<Taken> {
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  let sent = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() - startMs < roundMs) {
        await send();
        sent += 1;
      }
    }),
  );
  const { user, system } = process.cpuUsage(startCpu);
  return { rate: (sent * 1_000) / (performance.now() - startMs), cpuUs: (user + system) / sent };
}

function signMicroseconds(): number {
  const times = 50_000;
  const startMs = performance.now();
  for (let i = 0; i < times; i += 1) sign({ ...signable, payload: body });
  return ((performance.now() - startMs) * 1_000) / times;
}

/** Not an HTTP server: with node:http, the server would be the bottleneck. */
async function serve(): Promise<void> {
  const ok = Buffer.from(
    'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok',
  );
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    // A request of this size arrives in one piece, or its rest does not begin with a P.
    socket.on('data', (data) => data[0] === 0x50 && socket.write(ok));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert(typeof address === 'object' && address !== null);
  process.send?.(address.port);
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(2).padStart(8);
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
