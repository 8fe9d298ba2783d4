// The entry of the thread that writes.
import type { StoreFailure } from '../call.ts';
import { openSqlite, type SqliteOptions } from './adapter.ts';
import { answerParent, type Answering } from './answering.ts';
import { packWritten, unpackBatch } from './pack-batch.ts';
import type { Parcel } from './parcel.ts';

export type WriteQuestion = Parcel;
export type WriteAnswer = { kind: 'written'; parcel: Parcel } | StoreFailure;

answerParent((options: SqliteOptions): Answering<WriteQuestion, WriteAnswer> => {
  const sqlite = openSqlite(options);
  return {
    answer: (parcel) => {
      const reply = sqlite.run(unpackBatch(parcel));
      return reply.kind === 'written' ? { kind: 'written', parcel: packWritten(reply) } : reply;
    },
    close: sqlite.close,
  };
});
