// Nodes of a cluster as real processes over one PostgreSQL. A node that ends without being told to is
// a failure of its own: whoever waits for it hears what it said last.
import { randomBytes } from 'node:crypto';
import { sendTo, type Running } from '../api/harness.ts';
import { startChild, type Child, type Env } from '../cli/ringback-process.ts';
import { openDatabase, type Database } from '../postgres/database.ts';
import { startPostgres, type Postgres } from '../postgres/server.ts';

export type Role = 'all' | 'api' | 'worker';

export interface NodeOptions {
  /** Of the database. */
  url: string;
  name: string;
  role?: Role;
  env?: Env;
}

/** A process, and calls to it with the first key. */
export interface ClusterNode extends Running, Child {
  name: string;
}

/** All nodes of this process share them, as the nodes of a cluster must. */
const encryptionKey = randomBytes(32).toString('base64');
const key = 'cluster-key-'.padEnd(40, 'k');

/** Once more where the database was too slow to answer in 3 s: so does whoever keeps a service running. */
export async function startNode(options: NodeOptions): Promise<ClusterNode> {
  return startOnce(options).catch(async (error: unknown) => {
    if (!String(error).includes('timeout expired')) throw error;
    return startOnce(options);
  });
}

async function startOnce(options: NodeOptions): Promise<ClusterNode> {
  const { url: database, name, role = 'all', env = {} } = options;
  const child = startChild(['serve'], {
    DATABASE_URL: database,
    RINGBACK_ENCRYPTION_KEY: encryptionKey,
    RINGBACK_API_KEY: key,
    RINGBACK_PORT: '0',
    RINGBACK_NODE_NAME: name,
    RINGBACK_ROLE: role,
    RINGBACK_ALLOW_TARGETS: 'loopback', // A worker does not allow it by itself.
    RINGBACK_LOG: 'warn',
    ...env,
  });
  try {
    const [, url = ''] = await child.says(/(?:listens|status) on (http:\S+?)(?:\/readyz)?\n/);
    const [, appId = ''] = await child.says(/app id +(\S+)\n/);
    return {
      ...child,
      name,
      url,
      appId,
      key,
      call: async (call) => sendTo(url, key, call),
      logged: () => child.err(),
    };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}

/** Nodes by name, each over the same database. The first one brings the schema up. */
export async function startNodes(
  url: string,
  nodes: Readonly<Record<string, Role>>,
  env: Env = {},
): Promise<ClusterNode[]> {
  const [first, ...others] = Object.entries(nodes);
  if (first === undefined) return [];
  const start = async ([name, role]: [string, Role]): Promise<ClusterNode> =>
    startNode({ url, name, role, env });
  const started = [await start(first)];
  const rest = await Promise.allSettled(others.map(start));
  for (const one of rest) if (one.status === 'fulfilled') started.push(one.value);
  const failed = rest.find((one) => one.status === 'rejected');
  if (failed === undefined) return started;
  for (const node of started) await node[Symbol.asyncDispose]();
  throw failed.reason;
}

export interface OwnDatabase extends AsyncDisposable {
  postgres: Postgres;
  /** Of the database `ringback`. */
  url: string;
  database: Database;
}

/** A PostgreSQL that the test may kill and freeze, with fsync on: what it loses is lost. */
export async function ownDatabase(): Promise<OwnDatabase> {
  const postgres = await startPostgres();
  try {
    const url = await postgres.createDatabase('ringback');
    const database = openDatabase(url);
    const dispose = async (): Promise<void> => {
      await postgres[Symbol.asyncDispose](); // First: a frozen one would never say goodbye.
      await database[Symbol.asyncDispose]();
    };
    return { postgres, url, database, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await postgres[Symbol.asyncDispose]();
    throw error;
  }
}
