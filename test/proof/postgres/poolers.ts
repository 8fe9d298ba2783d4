// A pooler between a node and PostgreSQL. Session pooling must work. Transaction pooling must be refused at the start:
// otherwise the node would be ready, but publishes would fail at random.
import { startNode, type ClusterNode, ownDatabase } from '../../e2e/cluster.ts';
import { receive } from '../../e2e/receiver.ts';
import { subscribe, tryPublish } from '../../e2e/stage.ts';
import { findPgBouncer, startPgBouncer } from '../../postgres/pgbouncer.ts';
import { startPooler } from '../../postgres/pooler.ts';
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import type { Finding } from '../finding.ts';

export interface PoolerOptions {
  changes?: readonly SourceChange[];
  /** Also test with PgBouncer if it is installed. */
  withPgBouncer?: boolean;
}

type Mode = 'transaction' | 'session';

interface Kind {
  name: string;
  start: (url: string, mode: Mode) => Promise<{ url: string } & AsyncDisposable>;
}

const events = 50;
/** Server connections in session mode: a node has eight or nine connections. */
const servers = 20;

export async function behindPoolers(options: PoolerOptions = {}): Promise<Finding> {
  const { changes = [], withPgBouncer = false } = options;
  const env = changes.length > 0 ? changedSource(changes) : {};
  const kinds = withPgBouncer ? [ours, ...pgBouncers()] : [ours];
  const violations: string[] = [];
  let accepted = 0;
  for (const kind of kinds) {
    await using own = await ownDatabase();
    {
      await using pooler = await kind.start(own.url, 'transaction');
      violations.push(...(await refused(pooler.url, `${kind.name} in transaction mode`, env)));
    }
    await using pooler = await kind.start(own.url, 'session');
    await using node = await startNode({ url: pooler.url, name: 'session', env });
    const lost = await publishMany(node);
    if (lost > 0)
      violations.push(`I1: ${lost} publishes failed behind ${kind.name} in session mode`);
    accepted += events - lost;
  }
  return {
    part: 'postgres: behind a pooler',
    figures: { poolers: kinds.map(({ name }) => name).join(', '), 'events accepted': accepted },
    violations,
    events: { accepted, lost: 0 },
    ...(withPgBouncer && kinds.length === 1 && { skipped: 'no pgbouncer on this machine' }),
  };
}

const ours: Kind = {
  name: 'a small pooler',
  start: async (url, mode) =>
    startPooler(url, {
      mode,
      servers: mode === 'transaction' ? 4 : servers,
      resets: mode === 'session',
    }),
};

function pgBouncers(): Kind[] {
  const program = findPgBouncer();
  if (program === undefined) return [];
  return [
    { name: 'PgBouncer', start: async (url, mode) => startPgBouncer(program, url, { mode }) },
  ];
}

/** Returns a violation if the node starts, or fails without naming the reason. */
async function refused(
  url: string,
  pooler: string,
  env: Record<string, string>,
): Promise<string[]> {
  let node: ClusterNode;
  try {
    node = await startNode({ url, name: 'refused', env });
  } catch (error) {
    if (/expected a session that keeps its server connection/.test(String(error))) return [];
    return [`I12: a start behind ${pooler} failed without the right reason: ${String(error)}`];
  }
  await using _node = node;
  return [
    `I12: a node was ready behind ${pooler}, but ${await publishMany(node)} of ${events} publishes failed`,
  ];
}

/** Publishes events and waits for the accepted ones. Returns the number of refusals. */
async function publishMany(node: ClusterNode): Promise<number> {
  await using receiver = await receive();
  await subscribe(node, receiver.url);
  let failed = 0;
  for (let count = 0; count < events; count += 1) {
    const { status } = await tryPublish(node, 'order.created');
    if (status !== 202) failed += 1;
  }
  await receiver.waitFor(events - failed);
  return failed;
}
