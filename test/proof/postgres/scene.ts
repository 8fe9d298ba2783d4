// A cluster for fault injection: its own PostgreSQL server, nodes as real processes, a proxy between them, and load.
import { changedSource, type SourceChange } from '../controls/change-source.ts';
import { install } from '../../e2e/chaos-oracle.ts';
import { randomOf, type Random } from '../../e2e/chaos-plan.ts';
import { startNodes, type ClusterNode, type Role } from '../../e2e/cluster.ts';
import { nowMs } from '../../e2e/event-loop-lag.ts';
import { subscribe } from '../../e2e/stage.ts';
import { openDatabase, type Database } from '../../postgres/database.ts';
import { startProxy, type PostgresProxy } from '../../postgres/proxy.ts';
import { startPostgres, type Postgres } from '../../postgres/server.ts';
import { createLoad, type Load } from './load.ts';

export interface SceneOptions {
  seed: number;
  nodes?: Readonly<Record<string, Role>>;
  /** Settings of the server. */
  settings?: Readonly<Record<string, string>>;
  /** Changes to the source, for a control. */
  changes?: readonly SourceChange[];
  publishersOfNode?: number;
}

export interface Scene extends AsyncDisposable {
  postgres: Postgres;
  /** Bypasses the proxy. */
  database: Database;
  proxy: PostgresProxy;
  nodes: readonly ClusterNode[];
  load: Load;
  random: Random;
}

export async function setScene(options: SceneOptions): Promise<Scene> {
  const { seed, nodes = { first: 'all', second: 'all' }, settings = {}, changes = [] } = options;
  await using cleanup = new AsyncDisposableStack();
  const postgres = await startPostgres({ settings });
  cleanup.defer(async () => postgres[Symbol.asyncDispose]());
  const url = await postgres.createDatabase('ringback');
  const database = cleanup.use(openDatabase(url));
  cleanup.defer(() => postgres.thaw());
  const proxy = cleanup.use(await startProxy(url));
  const env = {
    RINGBACK_RETRY: Array.from({ length: 9 }, () => '200ms').join(','),
    ...(changes.length > 0 && changedSource(changes)),
  };
  const started = await startNodes(proxy.url, nodes, env);
  for (const node of started) cleanup.use(node);
  await install(database);
  const random = randomOf(seed, 1);
  const { publishersOfNode } = options;
  const load = cleanup.use(
    await createLoad({
      nodes: started.filter(({ name }) => nodes[name] !== 'worker'),
      random,
      ...(publishersOfNode !== undefined && { publishersOfNode }),
    }),
  );
  for (const node of started) watchOver(node, load);
  const [first] = started;
  if (first !== undefined) await subscribe(first, load.receiverUrl);
  await database.query('checkpoint'); // A fault may lose what follows, but never the setup.
  const running = cleanup.move();
  const dispose = async (): Promise<void> => running.disposeAsync();
  return {
    postgres,
    database,
    proxy,
    nodes: started,
    load,
    random,
    [Symbol.asyncDispose]: dispose,
  };
}

/** The process must survive every fault of the database. */
function watchOver(node: ClusterNode, { flaws }: Load): void {
  void node.ended.then((code) => {
    if (code === 'SIGKILL') return; // The teardown kills it.
    flaws.push(`I12: ${node.name} ended by itself with ${code}: ${node.logged().slice(-500)}`);
  });
}

export interface Healing {
  /** Time from the database's return to the first callback of an event published after it, at the slowest node. */
  firstMs: number;
  /** Time to the last callback of the events accepted before it. */
  allMs: number;
}

const healPatienceMs = 30_000;

/** Measures the recovery from `backMs` on. Events in `without` are not expected. */
export async function heal(
  { load, nodes }: Pick<Scene, 'load' | 'nodes'>,
  backMs: number,
  options: { without?: ReadonlySet<string>; patienceMs?: number | undefined } = {},
): Promise<Healing> {
  const { without = new Set(), patienceMs = healPatienceMs } = options;
  const before = load.accepted.flatMap(([, id]) =>
    load.arrivals.has(id) || without.has(id) ? [] : [id],
  );
  const first = nodes.map(async (node) => {
    const id = await load.publishOne(node, patienceMs);
    return id !== undefined && (await load.came([id], patienceMs)) ? nowMs() - backMs : Infinity;
  });
  const all = async (): Promise<number> => {
    await load.came(before, patienceMs);
    return Math.max(0, ...before.map((id) => (load.arrivals.get(id)?.[0] ?? Infinity) - backMs));
  };
  const [allMs, ...firstMs] = await Promise.all([all(), ...first]);
  return { firstMs: Math.max(0, ...firstMs), allMs };
}
