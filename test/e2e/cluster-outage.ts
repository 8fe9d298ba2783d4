// A cluster whose database is killed or frozen for a while: checks its responses meanwhile, and that it recovers by
// itself. The guarantees are times, so they are measured with the wall clock.
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer } from '../api/harness.ts';
import { ownDatabase, startNodes, type ClusterNode } from './cluster.ts';
import { header, receive } from './receiver.ts';
import { subscribe } from './stage.ts';
import { inTime } from './awaitable-count.ts';

/**
 * Limits for the response to a publish during the outage, and for deliveries to continue after it. Both are guaranteed
 * within 5 s, which the proof checks; three times as much allows for an overloaded machine.
 */
const answerMs = 15_000;
const healMs = 15_000;

export interface OutageReport {
  how: 'killed' | 'frozen';
  forMs: number;
  refused: number;
  accepted: number;
  slowestRefusalMs: number;
  /** From the database's return to the first callback of an event published after it. */
  healedMs: number;
}

/** Throws if a guarantee was broken. */
export async function outage(how: 'killed' | 'frozen', forMs: number): Promise<OutageReport> {
  await using own = await ownDatabase();
  const nodes = await startNodes(
    own.url,
    { first: 'all', second: 'all' },
    { RINGBACK_STORE_TIMEOUT: '3s' },
  );
  await using cleanup = new AsyncDisposableStack();
  for (const node of nodes) cleanup.use(node);
  await using receiver = await receive();
  const [first] = nodes;
  assert(first);
  await subscribe(first, receiver.url);

  const publishers = nodes.map((node, at) => new Publisher(node, at));
  const over = new AbortController();
  const publishing = Promise.all(publishers.map(async (one) => one.publishOn(over.signal)));
  cleanup.defer(async () => {
    over.abort(); // Stop publishing before the nodes end, even if this throws.
    await publishing.catch(() => undefined);
  });
  await receiver.waitFor(20);

  if (how === 'killed') await own.postgres.kill();
  else own.postgres.freeze();
  await wait(forMs / 2);
  for (const node of nodes) await isUnready(node, own.url);
  await wait(forMs / 2);
  if (how === 'killed') await own.postgres.start();
  else own.postgres.thaw();
  const backMs = performance.now();

  const delivered = (): Set<string> =>
    new Set(receiver.requests.map((request) => header(request, 'webhook-id')));
  for (const one of publishers) {
    const leftMs = healMs - (performance.now() - backMs);
    const id = await inTime(one.nextAccepted(), leftMs, () => `${one.name} accepts nothing`);
    const came = async (): Promise<void> => {
      while (!delivered().has(id)) await receiver.waitFor(receiver.requests.length + 1);
    };
    const more = healMs - (performance.now() - backMs);
    await inTime(came(), more, () => `${id} of ${one.name} did not come`);
  }
  const healedMs = Math.round(performance.now() - backMs);
  over.abort();
  await publishing;

  // All events acknowledged before, during and after the outage must come.
  const accepted = publishers.flatMap((one) => one.accepted);
  const isLost = (): boolean => !new Set(accepted).isSubsetOf(delivered());
  while (isLost()) await receiver.waitFor(receiver.requests.length + 1);
  for (const node of nodes) {
    const password = new URL(own.url).password;
    assert.ok(!node.logged().includes(password), 'the log does not show the password');
  }
  const refusals = publishers.flatMap((one) => one.refusalsMs);
  assert.ok(refusals.length > 0, 'there was an outage');
  return {
    how,
    forMs,
    refused: refusals.length,
    accepted: accepted.length,
    slowestRefusalMs: Math.round(Math.max(...refusals)),
    healedMs,
  };
}

/** Publishes one event after the other at one node, and repeats each until it is accepted. */
class Publisher {
  readonly accepted: string[] = [];
  readonly refusalsMs: number[] = [];
  readonly #node: ClusterNode;
  readonly #at: number;
  #next = Promise.withResolvers<string>();

  constructor(node: ClusterNode, at: number) {
    this.#node = node;
    this.#at = at;
  }

  get name(): string {
    return this.#node.name;
  }

  /** The next event whose first request is sent after this call. */
  async nextAccepted(): Promise<string> {
    this.#next = Promise.withResolvers<string>();
    return this.#next.promise;
  }

  async publishOn(signal: AbortSignal): Promise<void> {
    for (let number = 0; !signal.aborted; number += 1) {
      const next = this.#next;
      const id = await this.#publish(number, signal);
      if (id === undefined) return;
      this.accepted.push(id);
      next.resolve(id);
      await wait(5);
    }
  }

  async #publish(number: number, signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const startMs = performance.now();
      const answer = await this.#node.call({
        method: 'POST',
        path: '/events',
        headers: { 'idempotency-key': `${this.#at} ${number}` },
        body: { event: 'order.created', payload: { message: `${this.#at} ${number}` } },
      });
      if (answer.status === 202) return String(answer.json['eventId']);
      this.refusalsMs.push(performance.now() - startMs);
      isRefusal(answer);
      assert.ok(performance.now() - startMs <= answerMs, `${this.name} took too long to refuse`);
      await wait(50);
    }
    return undefined;
  }
}

function isRefusal(answer: Answer): void {
  assert.equal(answer.status, 503, answer.text);
  assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal(answer.json['code'], 'store_unavailable');
}

/** The node must give the reason, but not the address of the database. */
async function isUnready(node: ClusterNode, url: string): Promise<void> {
  const startMs = performance.now();
  const answer = await node.call({ path: '/readyz', key: null });
  assert.ok(
    performance.now() - startMs <= answerMs,
    `${node.name} took too long to respond to /readyz`,
  );
  isRefusal(answer);
  assert.match(String(answer.json['detail']), /is not ready: the store does not respond/);
  const { password, host, port } = new URL(url);
  for (const secret of [password, host, port])
    assert.ok(!answer.text.includes(secret), answer.text);
  const alive = await node.call({ path: '/healthz', key: null });
  assert.equal(alive.status, 200, 'the process itself is alive');
}
