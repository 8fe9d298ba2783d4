// Reviews of mutants that survived, written by hand and shown on the page.
import { changeText, type SourceChange } from '../controls/change-source.ts';

export interface Verdict extends SourceChange {
  /**
   * `equivalent`: the program behaves the same, so no test can detect it; the mutant is not run and does not count.
   * `accepted`: a test could detect it, but is not worth writing; it counts as survived.
   */
  kind: 'equivalent' | 'accepted';
  why: string;
}

export const verdicts: readonly Verdict[] = [
  {
    file: 'src/core/domain/circuit-breaker.ts',
    find: 'brokenAfter, 10)',
    replace: 'brokenAfter, (10 + 1))',
    kind: 'equivalent',
    why: 'The 6th doubling already exceeds the longest wait, which is the limit.',
  },
  {
    file: 'src/core/domain/circuit-breaker.ts',
    find: 'lane.intervalMs ?? 0)',
    replace: 'lane.intervalMs ?? (0 + 1))',
    kind: 'equivalent',
    why: 'The larger of it and 20 s is taken.',
  },
  {
    file: 'src/egress/http/connection.ts',
    find: 'if (this.#socket?.destroyed === true) this.#fail(gone);',
    replace: 'if (this.#socket?.destroyed === true) void 0;',
    kind: 'equivalent',
    why: 'The close event of the destroyed socket does the same a moment later.',
  },
  {
    file: 'src/egress/http/connection.ts',
    find: 'this.#hasReceived = true;',
    replace: 'this.#hasReceived = false;',
    kind: 'equivalent',
    why: 'The exchange is notified of each piece of a response, not only of the first, and ignores it.',
  },
  {
    file: 'src/egress/http/connections.ts',
    find: 'if (!pool.requests.delete(request)) return false;',
    replace: 'if (!pool.requests.delete(request)) return true;',
    kind: 'accepted',
    why: 'Guards against a request that the same loop has served already; no test gets there.',
  },
  {
    file: 'src/engine/deliver/dispatcher.ts',
    find: '#readyMs = 0;',
    replace: '#readyMs = (0 + 1);',
    kind: 'equivalent',
    why: 'Both are long past.',
  },
  {
    file: 'src/store/postgres/connection/transact.ts',
    find: 'world.monotonicMs() >= untilMs',
    replace: 'world.monotonicMs() > untilMs',
    kind: 'accepted',
    why: 'Asks again if the clock is exactly at the limit.',
  },
];

/** `source`: the text of the mutant's file. */
export function verdictOn(
  mutant: SourceChange,
  source: string,
): Pick<Verdict, 'kind' | 'why'> | undefined {
  const changed = changeText(source, mutant);
  const found = verdicts.find(
    (one) => one.file === mutant.file && changeText(source, one) === changed,
  );
  return found && { kind: found.kind, why: found.why };
}
