// The store for callers who must not wait for ever: what it does not answer in time is given up. That
// takes nothing back: an edit that was handed over may still happen.
import type { Deadlines } from '../egress/deadlines.ts';
import { StoreUnavailable, type Store } from '../store/store.ts';

/** The store did not answer in time. */
export class StoreSilent extends StoreUnavailable {
  /** It was asked to write, and may still do so. */
  readonly mayHappen: boolean;

  constructor(message: string, { mayHappen }: { mayHappen: boolean }) {
    super(message);
    this.mayHappen = mayHappen;
  }
}

export interface InTime {
  deadlines: Deadlines;
  answerMs: number;
}

/** Edits and reads with a deadline; everything else as it is. */
export function inTime(store: Store, { deadlines, answerMs }: InTime): Store {
  const silent = (kind: 'edit' | 'read'): StoreSilent => {
    const message = `The store did not respond within ${answerMs} ms: expected the end of one ${kind}`;
    return new StoreSilent(message, { mayHappen: kind === 'edit' });
  };
  // One promise, settled by whoever comes first: a race makes five more of them.
  const answered = <T>(kind: 'edit' | 'read', asked: Promise<T>): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const deadline = deadlines.set(answerMs, { expire: () => reject(silent(kind)) });
    asked.then(
      (answer) => {
        deadlines.clear(deadline);
        resolve(answer);
      },
      (error: unknown) => {
        deadlines.clear(deadline);
        reject(error);
      },
    );
    return promise;
  };
  return {
    edit: (verb, input) => answered('edit', store.edit(verb, input)),
    read: (verb, input) => answered('read', store.read(verb, input)),
    settle: (settlement) => store.settle(settlement),
    pollMs: store.pollMs,
    isShared: store.isShared,
    nowMs: () => store.nowMs(),
    work: () => store.work(),
    attach: (worker) => store.attach(worker),
    handOut: (body) => store.handOut(body),
    waiting: () => store.waiting(),
    close: async () => store.close(),
  };
}
