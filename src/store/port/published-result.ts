// The result of a publish as it is stored with its idempotency key.
import { AssertionError } from 'node:assert';
import type { Accepted } from './delivery-verbs.ts';

export function printResult(events: readonly Accepted[]): string {
  return JSON.stringify(events.map(({ id, deliveries }) => [id, deliveries ?? null]));
}

export function readResult(result: string): Accepted[] {
  const pairs: unknown = JSON.parse(result);
  if (!Array.isArray(pairs)) throw noResult(result);
  return pairs.map((pair: unknown) => {
    if (!Array.isArray(pair)) throw noResult(result);
    const [id, deliveries]: readonly unknown[] = pair;
    if (typeof id !== 'string') throw noResult(result);
    return { id, deliveries: typeof deliveries === 'number' ? deliveries : undefined };
  });
}

function noResult(result: string): AssertionError {
  return new AssertionError({ message: `Cannot answer with ${result}: expected pairs` });
}
