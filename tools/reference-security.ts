// Describes who may call an operation, for the reference.
import { scopeOf } from '../src/api/operations/authenticate.ts';
import type { Alternative, Operation } from '../src/contract/model/contract.ts';

export function describeSecurity(operation: Operation): string {
  const { security } = operation;
  if (security.length === 0) return 'anyone';
  if (security.every(isSession)) return 'users signed in to the console';
  const scope = scopeOf(operation);
  const words = scope === undefined ? 'any key' : `a key with the scope \`${scope}\``;
  return security.some(({ schemes }) => schemes.length === 0) ? `${words}, or anyone` : words;
}

function isSession({ schemes }: Alternative): boolean {
  return schemes.some(({ credential }) => credential === 'session');
}
