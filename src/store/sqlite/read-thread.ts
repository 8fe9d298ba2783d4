// The entry of the thread that reads. It loads nothing that writes.
import { scheduler } from 'node:timers/promises';
import type { ReadCall, ReadReply } from '../call.ts';
import { readOutput } from '../call.ts';
import { hotReads } from '../hot-reads.ts';
import { answerParent, type Answering } from './answering.ts';
import { packTargets } from './pack-targets.ts';
import type { Parcel } from './parcel.ts';
import { openSqliteReader, type ReaderOptions } from './reader.ts';

/** Targets go as a parcel. */
export type ReadAnswer = ReadReply | { kind: 'targets'; parcel: Parcel };

/**
 * Lists go one after the other, on a connection of their own, and after each statement those that
 * deliveries wait for come first: a search takes up to 100 ms, a statement of it one or a few.
 */
answerParent((options: ReaderOptions): Answering<ReadCall, ReadAnswer> => {
  const hot = openSqliteReader(options);
  const lists = openSqliteReader(options);
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async (call: ReadCall): Promise<ReadReply> => {
    const steps = lists.readInSteps(call);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      await scheduler.yield();
    }
  };
  return {
    answer: (call) => {
      if (hotReads.has(call.verb)) return packed(call, hot.read(call));
      const mine = last.then(async () => inTurn(call));
      last = mine.catch(() => undefined);
      return mine;
    },
    close: async () => {
      await last;
      hot.close();
      lists.close();
    },
  };
});

function packed({ verb }: ReadCall, reply: ReadReply): ReadAnswer {
  if (verb !== 'targets' || reply.kind !== 'done') return reply;
  return { kind: 'targets', parcel: packTargets(readOutput(verb, reply.output)) };
}
