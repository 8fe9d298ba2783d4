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

export type FromThread<Answer> =
  | { kind: 'opened' }
  | { kind: 'refused'; code: CannotOpenCode; message: string }
  | { kind: 'answer'; id: number; answer: Answer };

export interface Answering<Question, Answer> {
  answer: (question: Question) => Answer | Promise<Answer>;
  /** Called after all earlier questions are answered. */
  close: () => void | Promise<void>;
}

/** May throw CannotOpenStore. */
type Open<Options, Question, Answer> = (options: Options) => Answering<Question, Answer>;

export function answerParent<Options, Question, Answer>(
  open: Open<Options, Question, Answer>,
): void {
  let opened: Answering<Question, Answer> | undefined;
  const onMessage = async (message: ToThread<Options, Question>): Promise<void> => {
    switch (message.kind) {
      case 'open':
        opened = openOrRefuse(() => open(message.options));
        break;
      case 'ask': {
        assert(opened !== undefined, 'A thread is asked once it is open');
        const given = opened.answer(message.question);
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
  port().on('message', (message: ToThread<Options, Question>) => void onMessage(message));
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

function post<Answer>(message: FromThread<Answer>): void {
  port().postMessage(message);
}

function port(): NonNullable<typeof parentPort> {
  assert(parentPort !== null, 'This runs in a thread');
  return parentPort;
}
