// The threads around the service: receivers and the publisher, separate so that neither slows down the other.
import { Worker } from 'node:worker_threads';
import type { Book } from './book.ts';
import type { FromPublisher, PublisherOptions, ToPublisher } from './publisher.ts';
import type { FromReceivers, ReceiversOptions, ToReceivers } from './receivers.ts';

/** What both threads share. */
export interface Around {
  book: Book;
  onFlaw: (flaw: string) => void;
}

export interface Receiving {
  ports: readonly number[];
  worker: Worker;
  readOut: () => Promise<void>;
}

export async function startReceivers(
  { book, onFlaw }: Around,
  receivers: number,
): Promise<Receiving> {
  const options: ReceiversOptions = { book, receivers, failEvery: 5_000 };
  const worker = new Worker(new URL('./receivers.ts', import.meta.url), { workerData: options });
  const ready = Promise.withResolvers<readonly number[]>();
  let quiet = Promise.withResolvers<void>();
  worker.on('error', ready.reject);
  worker.on('message', (message: FromReceivers) => {
    if (message.kind === 'ready') ready.resolve(message.ports);
    if (message.kind === 'flaw') onFlaw(message.flaw);
    if (message.kind === 'quiet') quiet.resolve();
  });
  return {
    ports: await ready.promise,
    worker,
    readOut: async () => {
      quiet = Promise.withResolvers<void>();
      worker.postMessage({ kind: 'gone' } satisfies ToReceivers);
      await quiet.promise;
    },
  };
}

export interface Publishing {
  worker: Worker;
  isDone: () => boolean;
  tell: (message: ToPublisher) => void;
}

export function startPublisher(
  { book, onFlaw }: Around,
  { key, names }: Pick<PublisherOptions, 'key' | 'names'>,
): Publishing {
  const options: PublisherOptions = {
    book,
    key,
    batch: 100,
    publishers: 4,
    aheadMax: 1_500,
    names,
  };
  const worker = new Worker(new URL('./publisher.ts', import.meta.url), { workerData: options });
  let isDone = false;
  worker.on('message', (message: FromPublisher) => {
    if (message.kind === 'flaw') onFlaw(message.flaw);
    else isDone = true;
  });
  worker.on('error', (error) => onFlaw(`the publisher failed: ${String(error)}`));
  return { worker, isDone: () => isDone, tell: (message) => worker.postMessage(message) };
}
