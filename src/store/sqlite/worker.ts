// The entry of a store thread: opens one connection, answers questions in their order, and ends when
// told to close. It decides nothing.
import { strict as assert } from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import type { Batch, BatchReply, WorkReply } from '../call.ts';
import type { CannotOpenCode } from '../cannot-open-store.ts';
import { CannotOpenStore } from '../cannot-open-store.ts';
import type { Work } from '../delivery-verbs.ts';
import type { SqliteOptions } from './adapter.ts';
import { openSqlite, openSqliteReader } from './adapter.ts';

/** A writer is asked with a WriteQuestion, a reader with a ReadCall. */
export type ThreadRole = { kind: 'write'; options: SqliteOptions } | { kind: 'read'; path: string };

export type WriteQuestion = { kind: 'batch'; batch: Batch } | { kind: 'work'; work: Work };
export type WriteAnswer = BatchReply | WorkReply;

export type ToThread<Question> =
  | { kind: 'ask'; id: number; question: Question }
  | { kind: 'close' };

export type FromThread<Answer> =
  | { kind: 'opened' }
  | { kind: 'refused'; code: CannotOpenCode; message: string }
  | { kind: 'answer'; id: number; answer: Answer };

const role: ThreadRole = workerData;
try {
  switch (role.kind) {
    case 'write': {
      const sqlite = openSqlite(role.options);
      const answer = (question: WriteQuestion): WriteAnswer =>
        question.kind === 'batch' ? sqlite.run(question.batch) : sqlite.work(question.work);
      serve({ answer, close: sqlite.close });
      break;
    }
    case 'read': {
      const reader = openSqliteReader(role);
      serve({ answer: reader.read, close: reader.close });
      break;
    }
  }
} catch (error) {
  if (!(error instanceof CannotOpenStore)) throw error;
  tell({ kind: 'refused', code: error.code, message: error.message });
}

interface Service<Question, Answer> {
  answer: (question: Question) => Answer;
  close: () => void;
}

function serve<Question, Answer>({ answer, close }: Service<Question, Answer>): void {
  port().on('message', (message: ToThread<Question>) => {
    switch (message.kind) {
      case 'ask':
        tell({ kind: 'answer', id: message.id, answer: answer(message.question) });
        break;
      case 'close':
        close();
        port().close();
        break;
    }
  });
  tell({ kind: 'opened' });
}

function tell<Answer>(message: FromThread<Answer>): void {
  port().postMessage(message);
}

function port(): NonNullable<typeof parentPort> {
  assert(parentPort !== null, 'This file is the entry of a thread');
  return parentPort;
}
