// Runs reads, each on a connection of its own. A read with several statements sees one snapshot.
import { limits } from '../../../core/limits/limits.ts';
import { appNoOf, type ReadCall, type ReadReply, hotReads } from '../../port/transport-protocol.ts';
import { FairQueue, type AppNo } from '../../../core/load/fair-queue.ts';
import type { ReadVerb } from '../../port/store.ts';
import { readScript } from '../../verbs/reads.ts';
import { storeFailure, verbFailure } from '../connection/failure.ts';
import type { ReconnectingClient } from '../connection/reconnecting-client.ts';
import { pipelineQuery, sendText } from '../connection/pipeline.ts';
import { txOn } from '../connection/tx.ts';

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

/** One statement, which sees one snapshot by itself. */
function isSingle(call: ReadCall): boolean {
  return single.has(call.verb) || (call.verb === 'targets' && call.input.callbacks.length === 1);
}

export interface Readers {
  read(call: ReadCall): Promise<ReadReply>;
  close(): Promise<void>;
}

/** One connection is reserved for hot reads, so that lists cannot block them. */
export function createReaders(openLink: () => ReconnectingClient): Readers {
  const kept = new Pool(openLink, 1);
  const common = new Pool(openLink, limits.databaseReadersMax - 1);
  return {
    read: async (call) => {
      const isHot = hotReads.has(call.verb);
      const pool = isHot && !common.isFree() ? kept : common;
      const app = isHot ? undefined : appNoOf(call);
      if (pool.waiting() >= limits.readsWaitingMax) {
        const message = `Cannot read: ${pool.waiting()} reads are already queued`;
        return { kind: 'unavailable', message, trace: '' };
      }
      try {
        return { kind: 'done', output: await pool.use(app, async (link) => readOn(link, call)) };
      } catch (error) {
        return storeFailure(error) ?? verbFailure(call.verb, error);
      }
    },
    close: async () => {
      await Promise.all([kept.close(), common.close()]);
    },
  };
}

/** Apps take turns, and no app may hold every connection: one is left for the others. */
class Pool {
  readonly #open: () => ReconnectingClient;
  readonly #most: number;
  readonly #links: ReconnectingClient[] = [];
  readonly #idle: ReconnectingClient[] = [];
  readonly #waiting = new FairQueue<(link: ReconnectingClient) => void>();
  readonly #held = new Map<AppNo, number>();

  constructor(open: () => ReconnectingClient, most: number) {
    this.#open = open;
    this.#most = most;
  }

  isFree(): boolean {
    return this.#idle.length > 0 || this.#links.length < this.#most;
  }

  waiting(): number {
    return this.#waiting.size;
  }

  async use<T>(app: AppNo, body: (link: ReconnectingClient) => Promise<T>): Promise<T> {
    const link = await this.#acquire(app);
    try {
      return await body(link);
    } finally {
      this.#count(app, -1);
      this.#waiting.letOthersFirst(app);
      const next = this.#waiting.take((one) => this.#mayHave(one));
      if (next === undefined) this.#idle.push(link);
      else {
        this.#count(next.app, 1);
        next.item(link);
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map(async (link) => link.close()));
  }

  async #acquire(app: AppNo): Promise<ReconnectingClient> {
    if (this.#mayHave(app) && this.isFree()) {
      const link = this.#idle.pop() ?? this.#open();
      if (!this.#links.includes(link)) this.#links.push(link);
      this.#count(app, 1);
      return link;
    }
    const { promise, resolve } = Promise.withResolvers<ReconnectingClient>();
    this.#waiting.add(app, resolve);
    return promise;
  }

  #mayHave(app: AppNo): boolean {
    return app === undefined || this.#most === 1 || (this.#held.get(app) ?? 0) < this.#most - 1;
  }

  #count(app: AppNo, change: number): void {
    const held = (this.#held.get(app) ?? 0) + change;
    if (held === 0) this.#held.delete(app);
    else this.#held.set(app, held);
  }
}

async function readOn(
  link: ReconnectingClient,
  call: ReadCall,
): Promise<Extract<ReadReply, { kind: 'done' }>['output']> {
  if (isSingle(call)) return link.use(async (tx) => tx.run(readScript(call)));
  return link.withClient(async (client) => {
    // Sent in one pipeline with the first statement of the script.
    pipelineQuery(client, 'begin isolation level repeatable read read only', []).catch(
      () => undefined,
    );
    try {
      return await txOn(client).run(readScript(call));
    } finally {
      await sendText(client, 'commit'); // Nothing was written; this only releases the snapshot.
    }
  });
}
