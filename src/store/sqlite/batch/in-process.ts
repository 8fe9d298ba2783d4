// The adapter without a thread, for tests and simulation: it runs on the caller's thread.
import {
  type BatchReply,
  type Transport,
  type WorkReply,
  toError,
} from '../../port/transport-protocol.ts';
import type { Sqlite } from './adapter.ts';

export function inProcess(
  sqlite: Sqlite,
  { onFatal }: { onFatal: (error: Error) => void },
): Transport {
  const heard = <R extends BatchReply | WorkReply>(reply: R): R => {
    if (reply.kind === 'fatal') onFatal(toError(reply));
    return reply;
  };
  return {
    send: async (batch, foretell) => heard(sqlite.run(batch, foretell)),
    work: async (work) => heard(sqlite.work(work)),
    read: async (call) => sqlite.read(call),
    close: async () => sqlite.close(),
  };
}
