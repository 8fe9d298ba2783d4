// Programs of the benchmark in processes of their own, which answer one question at a time.
import { strict as assert } from 'node:assert';
import { fork } from 'node:child_process';

export interface ChildProgram<Question, Answer> extends AsyncDisposable {
  ask(question: Question): Promise<Answer>;
  pid: number;
}

export function startChild<Question extends object, Answer>(
  file: string,
): ChildProgram<Question, Answer> {
  const child = fork(file, { serialization: 'advanced' });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  assert(child.pid !== undefined, `Cannot start ${file}`);
  return {
    pid: child.pid,
    ask: async (question) =>
      new Promise<Answer>((resolve, reject) => {
        const onEnd = (): void => reject(new Error(`${file} has ended`));
        child.once('exit', onEnd);
        child.once('message', (answer) => {
          child.off('exit', onEnd);
          resolve(answer as Answer);
        });
        child.send(question);
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The child's side. It exits with its parent. */
export function answerParent(answer: (question: never) => Promise<unknown>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (question) => {
    void answer(question as never).then((reply) => process.send?.(reply));
  });
}
