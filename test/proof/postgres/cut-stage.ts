// Two nodes over one database: one behind a proxy that cuts, and one beside it that nothing happens to.
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Call } from '../../api/harness.ts';
import { startNode, type ClusterNode, type Role } from '../../e2e/cluster.ts';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import { header, receive, type Received, type Receiver } from '../../e2e/receiver.ts';
import { freshDatabase, type Database } from '../../postgres/database.ts';
import { startProxy, type PostgresProxy } from '../../postgres/proxy.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';

export interface Came {
  eventId: string;
  subscription: string;
  atMs: number;
}

export interface CutStage extends AsyncDisposable {
  database: Database;
  proxy: PostgresProxy;
  /** Behind the proxy. */
  cut: ClusterNode;
  /** Beside it. */
  safe: ClusterNode;
  receiver: Receiver;
  /** What came to the receiver, in order. */
  came: readonly Came[];
  /** Events that were accepted, by number; a number stands in the payload. */
  accepted: Map<number, string>;
  refusals: number;
  figures: Record<string, number>;
  violations: string[];
  /** Repeats a call under one key until it is answered so. */
  insist: (node: ClusterNode, call: Call, expected: number) => Promise<Answer>;
  /** Publishes the next number, until it is accepted. */
  publish: (node: ClusterNode) => Promise<{ id: string; deliveries: number }>;
  /** After `judgeEvents`. */
  events: () => { accepted: number; lost: number };
  lost: number;
}

/** `cutRole`: what the node behind the proxy does; the other one does all the rest. */
export async function setCutStage(
  cutRole: Role,
  changes: readonly SourceChange[],
): Promise<CutStage> {
  await using cleanup = new AsyncDisposableStack();
  const database = cleanup.use(await freshDatabase());
  const proxy = cleanup.use(await startProxy(database.url));
  const env = {
    RINGBACK_RETRY: Array.from({ length: 9 }, () => '100ms').join(','),
    ...(changes.length > 0 && changedSource(changes)),
  };
  const safeRole = cutRole === 'api' ? 'all' : 'api';
  const safe = cleanup.use(
    await startNode({ url: database.url, name: 'safe', role: safeRole, env }),
  );
  const cut = cleanup.use(await startNode({ url: proxy.url, name: 'cut', role: cutRole, env }));
  const came: Came[] = [];
  const receiver = cleanup.use(
    await receive((request: Received) => {
      const [eventId, subscription] = [
        header(request, 'webhook-id'),
        header(request, 'ringback-subscription'),
      ];
      came.push({ eventId, subscription, atMs: nowMs() });
      return request.url.includes('never') ? 500 : 200;
    }),
  );
  let keys = 0;
  const running = cleanup.move();
  const stage: CutStage = {
    database,
    proxy,
    cut,
    safe,
    receiver,
    came,
    accepted: new Map(),
    refusals: 0,
    figures: {},
    violations: [],
    lost: 0,
    insist: async (node, call, expected) => {
      keys += 1;
      const headers = { 'idempotency-key': `key ${keys}`, ...call.headers };
      for (;;) {
        const answer = await node.call({ ...call, headers });
        if (answer.status === expected) return answer;
        stage.refusals += 1;
        const isRight = answer.status === 503 && answer.headers.has('retry-after');
        if (!isRight) stage.violations.push(`I12: ${call.path}: ${answer.status} ${answer.text}`);
        if (!isRight && stage.violations.length > 50) throw new Error(stage.violations.join('\n'));
        await wait(20);
      }
    },
    publish: async (node) => {
      const number = stage.accepted.size;
      const body = { event: 'order.created', payload: { message: String(number) } };
      const { json } = await stage.insist(node, { method: 'POST', path: '/events', body }, 202);
      const id = String(json['eventId']);
      stage.accepted.set(number, id);
      return { id, deliveries: Number(json['deliveries']) };
    },
    events: () => ({ accepted: stage.accepted.size, lost: stage.lost }),
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
  return stage;
}
