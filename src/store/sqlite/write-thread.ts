// The entry of the thread that writes.
import type { StoreFailure } from '../call.ts';
import { openSqlite, type Sqlite, type SqliteOptions } from './adapter.ts';
import { answerParent, type Answering } from './answering.ts';
import { packWritten, unpackBatch } from './pack-batch.ts';
import { packWorked, unpackWork } from './pack-work.ts';
import type { Parcel } from './parcel.ts';

export interface WriteQuestion {
  kind: 'batch' | 'work';
  parcel: Parcel;
}
export type WriteAnswer =
  | { kind: 'written'; parcel: Parcel }
  | { kind: 'worked'; parcel: Parcel }
  | StoreFailure;

answerParent((options: SqliteOptions): Answering<WriteQuestion, WriteAnswer> => {
  const sqlite = openSqlite(options);
  return {
    answer: ({ kind, parcel }) => (kind === 'batch' ? run(sqlite, parcel) : work(sqlite, parcel)),
    close: sqlite.close,
  };
});

function run(sqlite: Sqlite, parcel: Parcel): WriteAnswer {
  const reply = sqlite.run(unpackBatch(parcel));
  return reply.kind === 'written' ? { kind: 'written', parcel: packWritten(reply) } : reply;
}

function work(sqlite: Sqlite, parcel: Parcel): WriteAnswer {
  const reply = sqlite.work(unpackWork(parcel));
  return reply.kind === 'worked' ? { kind: 'worked', parcel: packWorked(reply) } : reply;
}
