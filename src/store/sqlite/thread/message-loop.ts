// The message loop of a store thread: opens its connections on request, answers calls in order, and
// ends when asked to close. It contains no logic of the store.
import { strict as assert } from 'node:assert';
import { parentPort } from 'node:worker_threads';
import { type CannotOpenCode, CannotOpenStore } from '../../port/store.ts';

export type ToThread<Options, Question> =
  /** Comes first, once. */
  | { kind: 'open'; options: Options }
  | { kind: 'ask'; id: number; question: Question }
  | { kind: 'close' };

export type FromThread<Answer, Word> =
  | { kind: 'opened' }
  | { kind: 'refused'; code: CannotOpenCode; message: string }
  /** Sent before the answer to the same question. */
  | { kind: 'ahead'; id: number; word: Word }
  | { kind: 'answer'; id: number; answer: Answer };

export interface Answering<Question, Answer, Word = never> {
  /** `ahead` sends a message before the answer. */
  answer: (question: Question, ahead: (word: Word) => void) => Answer | Promise<Answer>;
  /** Called after all earlier questions are answered. */
  close: () => void | Promise<void>;
}

/** May throw CannotOpenStore. */
type Open<Options, Question, Answer, Word> = (
  options: Options,
) => Answering<Question, Answer, Word>;

export function answerParent<Options, Question, Answer, Word>(
  open: Open<Options, Question, Answer, Word>,
): void {
  let opened: Answering<Question, Answer, Word> | undefined;
  const hear = async (message: ToThread<Options, Question>): Promise<void> => {
    switch (message.kind) {
      case 'open':
        opened = openOrRefuse(() => open(message.options));
        break;
      case 'ask': {
        assert(opened !== undefined, 'A thread is asked once it is open');
        const given = opened.answer(message.question, (word) =>
          post({ kind: 'ahead', id: message.id, word }),
        );
        const said = given instanceof Promise ? await given : given;
        post({ kind: 'answer', id: message.id, answer: said });
        break;
      }
      case 'close':
        await opened?.close();
        port().close();
        break;
    }
  };
  // An exception here is not a reply of the store: it ends the thread.
  port().on('message', (message: ToThread<Options, Question>) => void hear(message));
}

function openOrRefuse<T>(open: () => T): T | undefined {
  try {
    const opened = open();
    post({ kind: 'opened' });
    return opened;
  } catch (error) {
    if (!(error instanceof CannotOpenStore)) throw error;
    post({ kind: 'refused', code: error.code, message: error.message });
    port().close();
    return undefined;
  }
}

function post<Answer, Word>(message: FromThread<Answer, Word>): void {
  port().postMessage(message);
}

function port(): NonNullable<typeof parentPort> {
  assert(parentPort !== null, 'This runs in a thread');
  return parentPort;
}
