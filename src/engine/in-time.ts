// The store for callers who must not wait for ever: what it does not answer in time is given up. That
// takes nothing back: an edit that was handed over may still happen.
import type { Deadlines } from '../egress/deadlines.ts';
import { StoreUnavailable, type Store } from '../store/store.ts';

/** The store said nothing at all for too long. */
export class StoreSilent extends StoreUnavailable {
  /** It was asked to write something, and may still do so. */
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
  const answered = async <T>(kind: 'edit' | 'read', asked: Promise<T>): Promise<T> => {
    const late = Promise.withResolvers<never>();
    const message = `The store did not answer within ${answerMs} ms: expected the end of one ${kind}`;
    const mayHappen = kind === 'edit';
    const expire = (): void => late.reject(new StoreSilent(message, { mayHappen }));
    const deadline = deadlines.set(answerMs, { expire });
    try {
      return await Promise.race([asked, late.promise]);
    } finally {
      deadlines.clear(deadline);
    }
  };
  return {
    edit: async (verb, input) => answered('edit', store.edit(verb, input)),
    read: async (verb, input) => answered('read', store.read(verb, input)),
    settle: async (settlement) => store.settle(settlement),
    pollMs: store.pollMs,
    isShared: store.isShared,
    nowMs: () => store.nowMs(),
    work: () => store.work(),
    attach: (worker) => store.attach(worker),
    waiting: () => store.waiting(),
    close: async () => store.close(),
  };
}
