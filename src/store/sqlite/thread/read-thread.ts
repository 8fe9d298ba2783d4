// The entry of the read thread. It must load nothing that writes.
import { scheduler } from 'node:timers/promises';
import { limits } from '../../../core/limits/limits.ts';
import {
  type ReadCall,
  type ReadReply,
  readOutput,
  hotReads,
} from '../../port/transport-protocol.ts';
import { answerParent, type Answering } from './message-loop.ts';
import { packTargets, type Parcel } from './codec.ts';
import { createReadTurns } from './read-turns.ts';
import { openSqliteReader, type ReaderOptions } from '../batch/reader.ts';

/** Targets are packed by codec.ts. */
export type ReadAnswer = ReadReply | { kind: 'targets'; parcel: Parcel };

/**
 * Lists run in turns (read-turns.ts), and after each of their statements the reads that deliveries
 * wait for come first: a search takes up to 100 ms, one of its statements a few.
 */
answerParent((options: ReaderOptions): Answering<ReadCall, ReadAnswer> => {
  const hot = openSqliteReader(options);
  const lists = Array.from({ length: limits.listReadersMax }, () => openSqliteReader(options));
  const turns = createReadTurns(lists, async () => scheduler.yield());
  return {
    answer: (call) => (hotReads.has(call.verb) ? packed(call, hot.read(call)) : turns.read(call)),
    close: async () => {
      await turns.drained();
      for (const reader of [hot, ...lists]) reader.close();
    },
  };
});

function packed({ verb }: ReadCall, reply: ReadReply): ReadAnswer {
  if (verb !== 'targets' || reply.kind !== 'done') return reply;
  return { kind: 'targets', parcel: packTargets(readOutput(verb, reply.output)) };
}
