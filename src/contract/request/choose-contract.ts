// Chooses the contract of an event. Events of one contract never reach the subscribers of another.
import type { Contract } from '../model/contract.ts';
import { matchingCallbacks } from './matching-callbacks.ts';

export type Choice =
  | { kind: 'chosen'; contract: Contract }
  /** The reason, as a sentence. */
  | { kind: 'none'; reason: string };

/**
 * By its title if one is given; else the only contract, or the only one with a callback that
 * matches the event.
 */
export function chooseContract(
  contracts: readonly Contract[],
  { event, title }: { event: string; title: string | undefined },
): Choice {
  const [only, ...others] = contracts;
  if (title !== undefined) {
    const named = contracts.find((contract) => contract.title === title);
    if (named !== undefined) return { kind: 'chosen', contract: named };
    return { kind: 'none', reason: `there is no contract "${title}", expected ${list(contracts)}` };
  }
  if (only !== undefined && others.length === 0) return { kind: 'chosen', contract: only };
  const able = contracts.filter((contract) => matchingCallbacks(contract, event).length > 0);
  const [first, second] = able;
  if (first !== undefined && second === undefined) return { kind: 'chosen', contract: first };
  const reason =
    first === undefined
      ? `no callback of any contract matches it; name the contract: ${list(contracts)}`
      : `callbacks of several contracts match it; name the contract: ${list(able)}`;
  return { kind: 'none', reason };
}

function list(contracts: readonly Contract[]): string {
  return contracts.map(({ title }) => JSON.stringify(title)).join(' or ');
}
