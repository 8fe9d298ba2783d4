// The entry of the thread that writes.
import type { Batch, BatchReply, WorkReply } from '../call.ts';
import type { Work } from '../delivery-verbs.ts';
import { openSqlite, type SqliteOptions } from './adapter.ts';
import { answerParent, type Answering } from './answering.ts';

export type WriteQuestion = { kind: 'batch'; batch: Batch } | { kind: 'work'; work: Work };
export type WriteAnswer = BatchReply | WorkReply;

answerParent((options: SqliteOptions): Answering<WriteQuestion, WriteAnswer> => {
  const sqlite = openSqlite(options);
  return {
    answer: (question) =>
      question.kind === 'batch' ? sqlite.run(question.batch) : sqlite.work(question.work),
    close: sqlite.close,
  };
});
