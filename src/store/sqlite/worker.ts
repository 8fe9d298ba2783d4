// The entry of a store thread: opens one connection, answers questions in their order, and ends when
// told to close. It decides nothing.
import { strict as assert } from 'node:assert';
import { scheduler } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { Batch, BatchReply, ReadCall, ReadReply, WorkReply } from '../call.ts';
import type { CannotOpenCode } from '../cannot-open-store.ts';
import { CannotOpenStore } from '../cannot-open-store.ts';
import type { Work } from '../delivery-verbs.ts';
import { hotReads } from '../hot-reads.ts';
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
      serve(readsOf(role));
      break;
    }
  }
} catch (error) {
  if (!(error instanceof CannotOpenStore)) throw error;
  tell({ kind: 'refused', code: error.code, message: error.message });
}

interface Service<Question, Answer> {
  answer: (question: Question) => Answer | Promise<Answer>;
  /** After what was asked before is answered. */
  close: () => void | Promise<void>;
}

function serve<Question, Answer>({ answer, close }: Service<Question, Answer>): void {
  const hear = async (message: ToThread<Question>): Promise<void> => {
    switch (message.kind) {
      case 'ask': {
        const given = answer(message.question);
        const said = given instanceof Promise ? await given : given;
        tell({ kind: 'answer', id: message.id, answer: said });
        break;
      }
      case 'close':
        await close();
        port().close();
        break;
    }
  };
  // What fails here is no answer of the store: the thread ends with it.
  port().on('message', (message: ToThread<Question>) => void hear(message));
  tell({ kind: 'opened' });
}

/**
 * Lists go one after the other, on a connection of their own, and after each statement those that
 * deliveries wait for come first: a search takes up to 100 ms, a statement of it one or a few.
 */
function readsOf(role_: { path: string }): Service<ReadCall, ReadReply> {
  const hot = openSqliteReader(role_);
  const lists = openSqliteReader(role_);
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
      if (hotReads.has(call.verb)) return hot.read(call);
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
}

function tell<Answer>(message: FromThread<Answer>): void {
  port().postMessage(message);
}

function port(): NonNullable<typeof parentPort> {
  assert(parentPort !== null, 'This file is the entry of a thread');
  return parentPort;
}
