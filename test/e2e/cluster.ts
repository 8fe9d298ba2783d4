// Nodes of a cluster as real processes on one PostgreSQL. If a node ends unexpectedly, waits for it fail with its last
// output.
import { randomBytes } from 'node:crypto';
import { sendTo, type Running } from '../api/harness.ts';
import { startChild, type Child, type Env } from '../cli/ringback-process.ts';
import { openDatabase, type Database } from '../postgres/database.ts';
import { startPostgres, type Postgres } from '../postgres/server.ts';

export type Role = 'all' | 'api' | 'worker';

export interface NodeOptions {
  /** The URL of the database. */
  url: string;
  name: string;
  role?: Role;
  env?: Env;
}

/** A process, and a client for it with the first key. */
export interface ClusterNode extends Running, Child {
  name: string;
}

/** Shared by all nodes, as it must be in a cluster. */
const encryptionKey = randomBytes(32).toString('base64');
const key = 'cluster-key-'.padEnd(40, 'k');

/** Retries once if the database does not respond within 3 s, like a process manager. */
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
    RINGBACK_ALLOW_TARGETS: 'loopback', // Workers do not allow it by default.
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

/** Starts nodes by name on the same database. The first one migrates the schema. */
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
  /** The URL of the database `ringback`. */
  url: string;
  database: Database;
}

/** A PostgreSQL server that the test may kill and freeze. */
export async function ownDatabase(): Promise<OwnDatabase> {
  const postgres = await startPostgres();
  try {
    const url = await postgres.createDatabase('ringback');
    const database = openDatabase(url);
    const dispose = async (): Promise<void> => {
      await postgres[Symbol.asyncDispose](); // Stop the server first: a frozen one would never close the connections.
      await database[Symbol.asyncDispose]();
    };
    return { postgres, url, database, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await postgres[Symbol.asyncDispose]();
    throw error;
  }
}
