// Reads, each on a connection of its own while it lasts; those that look more than once see one instant.
import { limits } from '../../core/limits.ts';
import type { ReadCall, ReadReply } from '../call.ts';
import { hotReads } from '../hot-reads.ts';
import type { ReadVerb } from '../store.ts';
import { readScript } from '../verbs/reads.ts';
import { storeFailure, verbFailure } from './failure.ts';
import type { Link } from './link.ts';
import { ask, say } from './packet.ts';
import { txOn } from './tx.ts';

const single: ReadonlySet<ReadVerb> = new Set([
  'key',
  'app',
  'apps',
  'keys',
  'health',
  'nodes',
  'watched',
  'counts',
]);

/** One statement, which is one instant by itself. */
function isSingle(call: ReadCall): boolean {
  return single.has(call.verb) || (call.verb === 'targets' && call.input.callbacks.length === 1);
}

export interface Readers {
  read(call: ReadCall): Promise<ReadReply>;
  close(): Promise<void>;
}

/** One connection is kept for hot reads, so that no number of lists stops them. */
export function createReaders(openLink: () => Link): Readers {
  const kept = new Pool(openLink, 1);
  const common = new Pool(openLink, limits.databaseReadersMax - 1);
  return {
    read: async (call) => {
      const pool = hotReads.has(call.verb) && !common.isFree() ? kept : common;
      if (pool.waiting() >= limits.readsWaitingMax) {
        const message = `Cannot read: ${pool.waiting()} wait already`;
        return { kind: 'unavailable', message, trace: '' };
      }
      try {
        return { kind: 'done', output: await pool.use(async (link) => readOn(link, call)) };
      } catch (error) {
        return storeFailure(error) ?? verbFailure(call.verb, error);
      }
    },
    close: async () => {
      await Promise.all([kept.close(), common.close()]);
    },
  };
}

class Pool {
  readonly #open: () => Link;
  readonly #most: number;
  readonly #links: Link[] = [];
  readonly #idle: Link[] = [];
  readonly #waiting: ((link: Link) => void)[] = [];

  constructor(open: () => Link, most: number) {
    this.#open = open;
    this.#most = most;
  }

  isFree(): boolean {
    return this.#idle.length > 0 || this.#links.length < this.#most;
  }

  waiting(): number {
    return this.#waiting.length;
  }

  async use<T>(body: (link: Link) => Promise<T>): Promise<T> {
    const link = await this.#acquire();
    try {
      return await body(link);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#idle.push(link);
      else next(link);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map(async (link) => link.close()));
  }

  async #acquire(): Promise<Link> {
    const free = this.#idle.pop();
    if (free !== undefined) return free;
    if (this.#links.length < this.#most) {
      const link = this.#open();
      this.#links.push(link);
      return link;
    }
    const { promise, resolve } = Promise.withResolvers<Link>();
    this.#waiting.push(resolve);
    return promise;
  }
}

async function readOn(
  link: Link,
  call: ReadCall,
): Promise<Extract<ReadReply, { kind: 'done' }>['output']> {
  if (isSingle(call)) return link.use(async (tx) => tx.run(readScript(call)));
  return link.withClient(async (client) => {
    // In one packet with the first statement of the script.
    ask(client, 'begin isolation level repeatable read read only', []).catch(() => undefined);
    try {
      return await txOn(client).run(readScript(call));
    } finally {
      await say(client, 'commit'); // Nothing was written; it only lets go of the snapshot.
    }
  });
}
