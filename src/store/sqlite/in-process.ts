// The adapter without a thread, for tests and simulation: the caller's own thread does the work.
import type { Transport } from '../call.ts';
import { rebuild } from '../rebuild.ts';
import type { Sqlite } from './adapter.ts';

export function inProcess(
  sqlite: Sqlite,
  { onFatal }: { onFatal: (error: Error) => void },
): Transport {
  return {
    send: async (batch) => {
      const reply = sqlite.run(batch);
      if (reply.kind === 'fatal') onFatal(rebuild(reply));
      return reply;
    },
    read: async (call) => sqlite.read(call),
    close: async () => sqlite.close(),
  };
}
