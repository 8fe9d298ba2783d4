// The entry of the write thread.
import type { StoreFailure } from '../../port/transport-protocol.ts';
import { openSqlite, type SqliteOptions } from '../batch/adapter.ts';
import { answerParent, type Answering } from './message-loop.ts';
import { packWritten, unpackBatch, type Parcel } from './codec.ts';

export type WriteQuestion = Parcel;
export type WriteAnswer = { kind: 'written'; parcel: Parcel } | StoreFailure;

answerParent((options: SqliteOptions): Answering<WriteQuestion, WriteAnswer> => {
  const sqlite = openSqlite(options);
  return {
    answer: (parcel) => {
      const reply = sqlite.run(unpackBatch(parcel));
      if (reply.kind !== 'written') return reply;
      return { kind: 'written', parcel: packWritten(reply) };
    },
    close: sqlite.close,
  };
});
