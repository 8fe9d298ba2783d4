// Nodes of a cluster are killed while they have much under way, one every few seconds; all that the dead
// held must be attempted again within two leases.
import { setTimeout as wait } from 'node:timers/promises';
import { limits } from '../../../src/core/limits/limits.ts';
import { Slot } from '../../e2e/chaos-nodes.ts';
import { findPending } from '../../e2e/chaos-oracle.ts';
import { ChaosRecord } from '../../e2e/chaos-record.ts';
import { ownDatabase, startNode, type ClusterNode } from '../../e2e/cluster.ts';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import { header, receive } from '../../e2e/receiver.ts';
import { publish, subscribe, type Accepted } from '../../e2e/stage.ts';
import type { Database } from '../../postgres/database.ts';
import type { SourceChange } from '../controls/change-source.ts';
import { changedSource } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';

export interface KillOptions {
  kills: number;
  changes?: readonly SourceChange[];
  /** How long work of the dead is waited for; default: a little longer than it may take. */
  patienceMs?: number;
}

const nodes = 3;
/** Each has lanes of its own, so that a node has many deliveries under way. */
const receivers = 8;
const answerAfterMs = 1_500;
const publishEveryMs = 100;
const killEveryMs = 4_000;
const twoLeasesMs = 2 * limits.nodeSilentMs;

/** What a node held when it was killed. */
interface Killed {
  atMs: number;
  deliveries: readonly string[];
}

export async function killNodes(options: KillOptions): Promise<Finding> {
  const { kills, changes = [], patienceMs = twoLeasesMs + 10_000 } = options;
  const record = new ChaosRecord();
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => record.close());
  const own = cleanup.use(await ownDatabase());
  const env = changes.length > 0 ? changedSource(changes) : {};
  const api = cleanup.use(await startNode({ url: own.url, name: 'api', role: 'api', env }));
  const slots = Array.from({ length: nodes }, (_, at) =>
    cleanup.use(new Slot(`node-${at}`, { url: own.url, record, env })),
  );
  await Promise.all(slots.map(async (slot) => slot.start()));
  const arrivals = new Map<string, number[]>();
  const receiver = cleanup.use(
    await receive(async (request) => {
      const id = header(request, 'ringback-delivery');
      arrivals.set(id, [...(arrivals.get(id) ?? []), nowMs()]);
      await wait(answerAfterMs);
      return 200;
    }),
  );
  for (let at = 0; at < receivers; at += 1) await subscribe(api, `${receiver.url}/${at}`);
  const feeding = feed(api);
  const killed: Killed[] = [];
  const starting: Promise<void>[] = [];
  try {
    for (let round = 0; round < kills; round += 1) {
      await wait(killEveryMs);
      const slot = slots[round % nodes];
      if (slot === undefined) continue;
      killed.push(await kill(slot, own.database));
      starting.push(slot.start());
    }
  } finally {
    await Promise.all(starting);
    await feeding.end();
  }
  const again = await whenAgain(killed, arrivals, patienceMs);
  const drained = await ended(own.database, patienceMs);
  return findingOf({ killed, again, arrivals, accepted: feeding.accepted, drained, record });
}

function feed(node: ClusterNode): { accepted: Accepted[]; end: () => Promise<void> } {
  const over = new AbortController();
  const accepted: Accepted[] = [];
  const publishOn = async (): Promise<void> => {
    while (!over.signal.aborted) {
      accepted.push(await publish(node, 'order.created'));
      await wait(publishEveryMs);
    }
  };
  const publishing = publishOn();
  publishing.catch(() => undefined);
  return {
    accepted,
    end: async () => {
      over.abort();
      await publishing;
    },
  };
}

async function kill(slot: Slot, database: Database): Promise<Killed> {
  const numbers = 'select no from ringback.node where name = $1 order by no desc limit 1';
  const [node] = await database.query(numbers, [slot.name]);
  await slot.kill();
  const atMs = nowMs();
  const rows = await database.query(
    `select event, n from ringback.delivery_live where lease is not null and lease >> 32 = $1`,
    [node?.['no']],
  );
  const deliveries = rows.map(({ event, n }) => `dlv_${String(event)}_${String(n)}`);
  return { atMs, deliveries };
}

/** By kill: how long each delivery of the dead took until it was attempted again; Infinity: never. */
async function whenAgain(
  killed: readonly Killed[],
  arrivals: ReadonlyMap<string, readonly number[]>,
  patienceMs: number,
): Promise<number[]> {
  const untilMs = Math.max(0, ...killed.map(({ atMs }) => atMs)) + patienceMs;
  for (;;) {
    const tookMs = killed.flatMap(({ atMs, deliveries }) =>
      deliveries.map((id) => {
        const next = arrivals.get(id)?.find((cameMs) => cameMs > atMs);
        return next === undefined ? Infinity : next - atMs;
      }),
    );
    if (tookMs.every(Number.isFinite) || nowMs() > untilMs) return tookMs;
    await wait(100);
  }
}

async function ended(database: Database, patienceMs: number): Promise<number> {
  const untilMs = nowMs() + patienceMs;
  for (;;) {
    const { count } = await findPending(database);
    if (count === 0 || nowMs() > untilMs) return count;
    await wait(100);
  }
}

function findingOf(seen: {
  killed: readonly Killed[];
  again: readonly number[];
  arrivals: ReadonlyMap<string, readonly number[]>;
  accepted: readonly Accepted[];
  drained: number;
  record: ChaosRecord;
}): Finding {
  const { killed, again, arrivals, accepted, drained, record } = seen;
  const late = again.filter((tookMs) => tookMs > twoLeasesMs);
  const lost = accepted.filter(({ eventId }) => missingOf(eventId, arrivals) > 0);
  const violations = [...record.flaws];
  if (late.length > 0) violations.push(`I18: ${late.length} were not attempted within two leases`);
  if (drained > 0) violations.push(`I3: ${drained} deliveries never ended`);
  for (const { eventId } of lost) {
    const missing = missingOf(eventId, arrivals);
    violations.push(`I1: ${eventId} was answered, and to ${missing} of ${receivers} it never came`);
  }
  const fewer = accepted.find(({ deliveries }) => deliveries !== receivers);
  if (fewer !== undefined) violations.push(`I1: ${JSON.stringify(fewer)}, expected ${receivers}`);
  if (again.length === 0) violations.push('void: the dead held nothing');
  return {
    part: 'postgres: nodes killed with SIGKILL',
    figures: {
      kills: killed.length,
      'deliveries they held': again.length,
      'attempted again, worst s': Math.round(Math.max(0, ...again) / 100) / 10,
      'two leases, s': twoLeasesMs / 1000,
      'events accepted': accepted.length,
      lost: lost.length,
    },
    violations,
    events: { accepted: accepted.length, lost: lost.length },
  };
}

/** Each receiver has a delivery of its own, by its number. */
function missingOf(eventId: string, arrivals: ReadonlyMap<string, unknown>): number {
  const event = eventId.slice('evt_'.length);
  const ids = Array.from({ length: receivers }, (_, n) => `dlv_${event}_${n}`);
  return ids.filter((id) => !arrivals.has(id)).length;
}
