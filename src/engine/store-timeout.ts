// The store for callers who must not wait for ever: what it does not answer in time is given up. An edit that still
// waits for its batch is withdrawn, and never happens; one that was handed to the database may still happen.
import type { Deadlines } from '../egress/http/deadlines.ts';
import { StoreUnavailable, type Store, type Withdraw } from '../store/port/store.ts';

/** The store did not answer in time. */
export class StoreTimedOut extends StoreUnavailable {
  /** It was asked to write, and may still do so. */
  readonly mayHappen: boolean;

  constructor(message: string, { mayHappen }: { mayHappen: boolean }) {
    super(message);
    this.mayHappen = mayHappen;
  }
}

export interface StoreTimeout {
  deadlines: Deadlines;
  answerMs: number;
  /** Called with the time that each edit other than a publish took, or waited until it timed out. */
  onChanged?: { monotonicMs: () => number; changed: (tookMs: number) => void };
}

/** Edits and reads with a deadline; everything else as it is. */
export function withStoreTimeout(
  store: Store,
  { deadlines, answerMs, onChanged }: StoreTimeout,
): Store {
  const timedOut = (kind: 'edit' | 'read', mayHappen: boolean): StoreTimedOut => {
    const message = `The store did not answer within ${answerMs} ms: expected the end of one ${kind}`;
    return new StoreTimedOut(message, { mayHappen });
  };
  // One promise, settled by the store or by the deadline: `Promise.race` would create five more.
  const answered = <T>(asked: Promise<T>, giveUp: () => StoreTimedOut): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const deadline = deadlines.set(answerMs, { expire: () => reject(giveUp()) });
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
    edit: (verb, input) => {
      let withdraw: Withdraw = cannotWithdraw;
      const asked = store.edit(verb, input, (given) => {
        withdraw = given;
      });
      const answer = answered(asked, () => timedOut('edit', !withdraw()));
      if (onChanged !== undefined && verb !== 'publish') measure(answer, onChanged);
      return answer;
    },
    read: (verb, input) => answered(store.read(verb, input), () => timedOut('read', false)),
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

/** Of what never waits for a batch. */
function cannotWithdraw(): boolean {
  return false;
}

function measure(
  asked: Promise<unknown>,
  { monotonicMs, changed }: NonNullable<StoreTimeout['onChanged']>,
): void {
  const sinceMs = monotonicMs();
  const ended = (): void => changed(monotonicMs() - sinceMs);
  asked.then(ended, ended);
}
