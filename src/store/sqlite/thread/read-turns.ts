// Shares the read thread between apps. Each app has one list read in progress, on a connection of
// its own, and the reads in progress take turns, a statement each. So a short read of one app waits
// for a few statements of others, not for their backlogs.
import { appNoOf, type ReadCall, type ReadReply } from '../../port/transport-protocol.ts';
import { FairQueue, type AppNo } from '../../../core/load/fair-queue.ts';
import type { SqliteReader } from '../batch/reader.ts';

export interface ReadTurns {
  read: (call: ReadCall) => Promise<ReadReply>;
  /** Resolves when all reads are answered. */
  drained: () => Promise<void>;
}

interface Waiting {
  call: ReadCall;
  answer: PromiseWithResolvers<ReadReply>;
}

/** `pause` lets other work run between two statements. */
export function createReadTurns(
  readers: readonly Pick<SqliteReader, 'readInSteps'>[],
  pause: () => Promise<void>,
): ReadTurns {
  const idle = [...readers];
  const waiting = new FairQueue<Waiting>();
  const reading = new Map<AppNo, Promise<void>>();

  const run = async (reader: (typeof readers)[number], call: ReadCall): Promise<ReadReply> => {
    const steps = reader.readInSteps(call);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await pause();
    }
  };
  const begin = (): void => {
    for (;;) {
      const reader = idle.pop();
      if (reader === undefined) return;
      const next = waiting.take((app) => !reading.has(app));
      if (next === undefined) {
        idle.push(reader);
        return;
      }
      const { app, item } = next;
      const over = (): void => {
        idle.push(reader);
        reading.delete(app);
        waiting.letOthersFirst(app);
        begin();
      };
      const answered = run(reader, item.call).then(item.answer.resolve, item.answer.reject);
      reading.set(app, answered.then(over));
    }
  };
  return {
    read: async (call) => {
      const answer = Promise.withResolvers<ReadReply>();
      waiting.add(appNoOf(call), { call, answer });
      begin();
      return answer.promise;
    },
    drained: async () => {
      while (reading.size > 0) await Promise.all(reading.values());
    },
  };
}
