// Runs the API behind the gateway, decides when it goes on, and kills it.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const steps = ['arrived', 'decided', 'half answered', 'answered'] as const;
export type Step = (typeof steps)[number];

/** A line of its file. */
export interface Decision {
  job: string;
  subscriberId: string;
  isAccepted: boolean;
}

export interface Job {
  job: string;
  isAcceptable: boolean;
  callbackUrl: string;
}

export type FromApi =
  | { kind: 'listening'; port: number }
  | { kind: 'step'; step: Step; job: string };

/** The job may go on. */
export interface ToApi {
  job: string;
}

export interface Api extends AsyncDisposable {
  url: string;
  /** Called before each step that a job takes next. The API waits until it resolves. */
  onStep: (step: Step, job: string) => Promise<void>;
  /** Kills it with SIGKILL, and starts it again on the same port. */
  kill: () => Promise<void>;
  /** Resolves when no job is on its way through it. */
  idle: () => Promise<void>;
  /** What it has recorded, by job. */
  decisions: () => ReadonlyMap<string, Decision>;
}

const program = fileURLToPath(new URL('api-process.ts', import.meta.url));

/** `file`: where it keeps its decisions. */
export async function startApi(file: string): Promise<Api> {
  writeFileSync(file, '');
  const open = new Set<string>();
  let quiet = Promise.withResolvers<void>();
  let child: ChildProcess | undefined;
  let port = 0;

  const close = (job: string): void => {
    open.delete(job);
    if (open.size > 0) return;
    quiet.resolve();
    quiet = Promise.withResolvers();
  };

  const goOn = async (
    from: ChildProcess,
    { step, job }: { step: Step; job: string },
  ): Promise<void> => {
    open.add(job);
    await api.onStep(step, job);
    const message: ToApi = { job };
    if (from === child) from.send(message);
    if (step === 'answered' || from !== child) close(job);
  };

  const start = async (): Promise<void> => {
    const started = fork(program, [`${port}`, file], { execArgv: [], env: {} });
    const ready = Promise.withResolvers<void>();
    started.on('error', ready.reject);
    started.on('exit', (code) => ready.reject(new Error(`The API ended with ${code}`)));
    started.on('message', (message: FromApi) => {
      if (message.kind === 'step') void goOn(started, message);
      else ready.resolve(((port = message.port), undefined));
    });
    await ready.promise;
    child = started;
  };

  const end = async (): Promise<void> => {
    const ending = child;
    child = undefined;
    if (ending === undefined) return;
    const ended = once(ending, 'exit');
    ending.kill('SIGKILL');
    await ended;
  };

  await start();
  const api: Api = {
    url: `http://127.0.0.1:${port}`,
    onStep: async () => undefined,
    kill: async () => {
      await end();
      await start();
    },
    idle: async () => {
      while (open.size > 0) await quiet.promise;
    },
    decisions: () => {
      const lines = readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '');
      const found = lines.map((line) => JSON.parse(line) as Decision);
      return new Map(found.map((one) => [one.job, one]));
    },
    [Symbol.asyncDispose]: end,
  };
  return api;
}
