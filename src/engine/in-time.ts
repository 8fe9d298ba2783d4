// A store for callers that must not wait indefinitely: an edit or read that is not answered in time
// is given up. Giving up undoes nothing, so an edit may still be written.
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

/** Edits and reads get a deadline; everything else passes through. */
export function inTime(store: Store, { deadlines, answerMs }: InTime): Store {
  const silent = (kind: 'edit' | 'read'): StoreSilent => {
    const message = `The store did not answer within ${answerMs} ms: expected the end of one ${kind}`;
    return new StoreSilent(message, { mayHappen: kind === 'edit' });
  };
  // One promise, settled by the answer or the deadline: Promise.race would allocate five more.
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
