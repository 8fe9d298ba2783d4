// Reads, each on a connection of its own while it lasts; those that look more than once see one instant.
import { limits } from '../../core/limits.ts';
import type { ReadCall, ReadReply } from '../call.ts';
import type { ReadVerb } from '../store.ts';
import { readScript } from '../verbs/reads.ts';
import { storeFailure, verbFailure } from './failure.ts';
import type { Link } from './link.ts';
import { txOn } from './tx.ts';

const single: ReadonlySet<ReadVerb> = new Set(['key', 'app', 'apps', 'keys', 'health', 'nodes']);

/** One statement, which is one instant by itself. */
function isSingle(call: ReadCall): boolean {
  return single.has(call.verb) || (call.verb === 'targets' && call.input.callbacks.length === 1);
}

export interface Readers {
  read(call: ReadCall): Promise<ReadReply>;
  close(): Promise<void>;
}

export function createReaders(openLink: () => Link): Readers {
  const links: Link[] = [];
  const idle: Link[] = [];
  const waiting: ((link: Link) => void)[] = [];

  const acquire = async (): Promise<Link> => {
    const free = idle.pop();
    if (free !== undefined) return free;
    if (links.length < limits.databaseReadersMax) {
      const link = openLink();
      links.push(link);
      return link;
    }
    const { promise, resolve } = Promise.withResolvers<Link>();
    waiting.push(resolve);
    return promise;
  };
  const release = (link: Link): void => {
    const next = waiting.shift();
    if (next === undefined) idle.push(link);
    else next(link);
  };

  return {
    read: async (call) => {
      if (waiting.length >= limits.readsWaitingMax) {
        const message = `Cannot read: ${waiting.length} wait already`;
        return { kind: 'unavailable', message, trace: '' };
      }
      const link = await acquire();
      try {
        return { kind: 'done', output: await readOn(link, call) };
      } catch (error) {
        return storeFailure(error) ?? verbFailure(call.verb, error);
      } finally {
        release(link);
      }
    },
    close: async () => {
      await Promise.all(links.map(async (link) => link.close()));
    },
  };
}

async function readOn(
  link: Link,
  call: ReadCall,
): Promise<Extract<ReadReply, { kind: 'done' }>['output']> {
  if (isSingle(call)) return link.use(async (tx) => tx.run(readScript(call)));
  return link.withClient(async (client) => {
    // In one packet with the first statement of the script.
    client.query('begin isolation level repeatable read read only').catch(() => undefined);
    try {
      return await txOn(client).run(readScript(call));
    } finally {
      await client.query('commit'); // Nothing was written; it only lets go of the snapshot.
    }
  });
}
