// Runs SQLite on threads of its own, so that no fsync and no long read blocks the event loop: one
// thread writes, one reads. It only passes messages; the adapter does the work.
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { limits } from '../../../core/limits/limits.ts';
import {
  toError,
  type ReadCall,
  type Transport,
  asBatch,
  asWorkReply,
} from '../../port/transport-protocol.ts';
import { CannotOpenStore, StoreUnavailable } from '../../port/store.ts';
import type { SqliteOptions } from '../batch/adapter.ts';
import type { ReaderOptions } from '../batch/reader.ts';
import type { FromThread, ToThread } from './message-loop.ts';
import { packBatch, unpackWritten, unpackTargets } from './codec.ts';
import type { ReadAnswer } from './read-thread.ts';
import type { WriteAnswer, WriteQuestion } from './write-thread.ts';

export interface ThreadOptions extends SqliteOptions {
  /**
   * A thread died or the disk state is unknown: nothing more will be written, so end the process.
   */
  onFatal: (error: Error) => void;
}

/** Threads that have not opened anything yet. Disposing of them ends them at any point. */
export interface StartedThreads extends AsyncDisposable {
  /** Call once. Rejects with CannotOpenStore. */
  open: (options: ThreadOptions) => Promise<Transport>;
}

/** The threads load their code at once, while the caller does other work. */
export function startThreads(): StartedThreads {
  const writer: Writer = new Thread('write');
  const reader: Reader = new Thread('read');
  // The writer closes last: only it can checkpoint the WAL.
  const close = async (): Promise<void> => {
    await reader.close();
    await writer.close();
  };
  return {
    open: async ({ onFatal, ...options }) => {
      try {
        // The writer opens first: it takes the lock, creates the file and migrates the schema.
        await writer.open(options, onFatal);
        await reader.open({ path: options.path }, onFatal);
      } catch (error) {
        await close();
        throw error;
      }
      return transportOver({ writer, reader, close, onFatal });
    },
    [Symbol.asyncDispose]: close,
  };
}

type Writer = Thread<SqliteOptions, WriteQuestion, WriteAnswer>;
type Reader = Thread<ReaderOptions, ReadCall, ReadAnswer>;

interface Threads extends Pick<Transport, 'close'>, Pick<ThreadOptions, 'onFatal'> {
  writer: Writer;
  reader: Reader;
}

function transportOver({ writer, reader, close, onFatal }: Threads): Transport {
  const send: Transport['send'] = async (batch) => {
    const question = packBatch(batch);
    const answer = await writer.ask(question, [question.bytes]);
    if (answer.kind === 'fatal') onFatal(toError(answer));
    return answer.kind === 'written' ? unpackWritten(answer.parcel) : answer;
  };
  return {
    send,
    work: async (work) => asWorkReply(await send(asBatch(work))),
    read: async (call) => {
      const answer = await reader.ask(call);
      return answer.kind === 'targets'
        ? { kind: 'done', output: unpackTargets(answer.parcel) }
        : answer;
    },
    close,
  };
}

/**
 * Everything a batch allocates is garbage once it is answered, so a small young generation
 * suffices. It saves memory and costs no throughput: docs/performance.md.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 12 } as const;

/** One worker thread with any number of calls in flight. */
class Thread<Options, Question, Answer> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  readonly #opening = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  #onDeath: (error: Error) => void = () => undefined;
  #state: 'opening' | 'open' | 'closing' | 'ended' = 'opening';
  #lastId = 0;

  constructor(kind: 'write' | 'read') {
    this.#opening.promise.catch(() => undefined); // A thread may die before it is opened.
    const entry = new URL(`./${kind}-thread${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(entry, { name: `store-${kind}`, resourceLimits });
    this.#worker.on('message', (message: FromThread<Answer>) => this.#onMessage(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(undefined));
  }

  /** Rejects with CannotOpenStore. */
  async open(options: Options, onDeath: (error: Error) => void): Promise<void> {
    this.#onDeath = onDeath;
    this.#post({ kind: 'open', options });
    return this.#opening.promise;
  }

  async ask(question: Question, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    if (this.#state !== 'open') throw new StoreUnavailable('Cannot ask the store: it is closed');
    if (this.#waiting.size >= limits.readsWaitingMax) {
      throw new StoreUnavailable(
        `Cannot ask the store: ${this.#waiting.size} requests are already queued`,
      );
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answer);
    this.#post({ kind: 'ask', id, question }, transfer);
    return answer.promise;
  }

  /** Replies to earlier calls, then ends. */
  async close(): Promise<void> {
    if (this.#state === 'opening' || this.#state === 'open') {
      this.#state = 'closing';
      this.#post({ kind: 'close' });
    }
    return this.#ended.promise;
  }

  #post(message: ToThread<Options, Question>, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #onMessage(message: FromThread<Answer>): void {
    switch (message.kind) {
      case 'opened':
        if (this.#state === 'opening') this.#state = 'open'; // Unless it was closed meanwhile.
        this.#opening.resolve();
        break;
      case 'refused':
        this.#state = 'closing';
        this.#opening.reject(new CannotOpenStore(message.code, message.message));
        break;
      case 'answer':
        this.#waiting.get(message.id)?.resolve(message.answer);
        this.#waiting.delete(message.id);
        break;
    }
  }

  /** Called once or twice: an uncaught error is followed by the exit. */
  #end(cause: unknown): void {
    const before = this.#state;
    this.#state = 'ended';
    if (before === 'ended') return;
    const death = new StoreUnavailable('The store failed: its thread ended', { cause });
    this.#opening.reject(new CannotOpenStore('failed', death.message, { cause })); // In case it never opened.
    for (const answer of this.#waiting.values()) answer.reject(death);
    this.#waiting.clear();
    if (before === 'closing' && cause !== undefined) this.#ended.reject(death);
    else this.#ended.resolve();
    if (before === 'open') this.#onDeath(death);
  }
}
