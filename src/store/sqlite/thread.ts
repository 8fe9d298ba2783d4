// SQLite in threads of its own, so that no fsync and no long read stops the event loop: one thread
// writes, one reads. A thin shell: what the threads do is the adapter's.
import { strict as assert } from 'node:assert';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { limits } from '../../core/limits.ts';
import type { ReadCall, ReadReply, Transport } from '../call.ts';
import { CannotOpenStore } from '../cannot-open-store.ts';
import { rebuild } from '../rebuild.ts';
import { StoreUnavailable } from '../store.ts';
import type { SqliteOptions } from './adapter.ts';
import { packBatch, packWork } from './pack.ts';
import type { FromThread, ThreadRole, ToThread, WriteAnswer, WriteQuestion } from './worker.ts';

export interface ThreadOptions extends SqliteOptions {
  /** A thread died or the disk is in doubt: nothing more will be written; end the process. */
  onFatal: (error: Error) => void;
}

/** Opens the writer, then the reader. Rejects with CannotOpenStore. */
export async function openThreads({ onFatal, ...options }: ThreadOptions): Promise<Transport> {
  const writer = new Thread<WriteQuestion, WriteAnswer>({ kind: 'write', options }, onFatal);
  await writer.opened;
  const reader = new Thread<ReadCall, ReadReply>({ kind: 'read', path: options.path }, onFatal);
  try {
    await reader.opened;
  } catch (error) {
    await writer.close();
    throw error;
  }
  const write = async (
    question: WriteQuestion,
    transfer: readonly ArrayBuffer[],
  ): Promise<WriteAnswer> => {
    const reply = await writer.ask(question, transfer);
    if (reply.kind === 'fatal') onFatal(rebuild(reply));
    return reply;
  };
  return {
    send: async (batch) => {
      const { message, transfer } = packBatch(batch);
      const reply = await write({ kind: 'batch', batch: message }, transfer);
      assert(reply.kind !== 'worked', 'A batch of edits was answered as if it were work');
      return reply;
    },
    work: async (work) => {
      const { message, transfer } = packWork(work);
      const reply = await write({ kind: 'work', work: message }, transfer);
      assert(reply.kind !== 'written', 'Work was answered as if it were a batch of edits');
      return reply;
    },
    read: async (call) => reader.ask(call),
    // The writer goes last: only a writer can fold the log into the file.
    close: async () => {
      await reader.close();
      await writer.close();
    },
  };
}

/** One worker, asked many things at once, answering each. */
class Thread<Question, Answer> {
  readonly opened: Promise<void>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  readonly #opening = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #onDeath: (error: Error) => void;
  #state: 'opening' | 'open' | 'closing' | 'ended' = 'opening';
  #lastId = 0;

  constructor(role: ThreadRole, onDeath: (error: Error) => void) {
    this.#onDeath = onDeath;
    this.opened = this.#opening.promise;
    const entry = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
    this.#worker = new Worker(entry, { workerData: role, name: `store-${role.kind}` });
    this.#worker.on('message', (message: FromThread<Answer>) => this.#hear(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(undefined));
  }

  async ask(question: Question, transfer: readonly ArrayBuffer[] = []): Promise<Answer> {
    if (this.#state !== 'open') throw new StoreUnavailable('Cannot ask the store: it is closed');
    if (this.#waiting.size >= limits.readsWaitingMax) {
      throw new StoreUnavailable(`Cannot ask the store: ${this.#waiting.size} wait already`);
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const answer = Promise.withResolvers<Answer>();
    this.#waiting.set(id, answer);
    this.#tell({ kind: 'ask', id, question }, transfer);
    return answer.promise;
  }

  /** Answers what was asked before, then ends. */
  async close(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'closing';
      this.#tell({ kind: 'close' });
    }
    return this.#ended.promise;
  }

  #tell(message: ToThread<Question>, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #hear(message: FromThread<Answer>): void {
    switch (message.kind) {
      case 'opened':
        this.#state = 'open';
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

  /** Comes once or twice: an uncaught error is followed by the exit. */
  #end(cause: unknown): void {
    const before = this.#state;
    this.#state = 'ended';
    if (before === 'ended') return;
    const death = new StoreUnavailable('The store failed: its thread ended', { cause });
    if (before === 'opening') {
      this.#opening.reject(new CannotOpenStore('failed', death.message, { cause }));
    }
    for (const { reject } of this.#waiting.values()) reject(death);
    this.#waiting.clear();
    if (before === 'closing' && cause !== undefined) this.#ended.reject(death);
    else this.#ended.resolve();
    if (before === 'open') this.#onDeath(death);
  }
}
