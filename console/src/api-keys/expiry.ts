// The expiry choices of a new key. Pure.
import { fromField } from '../local-time.ts';

const dayMs = 86_400_000;

export const expiries = [
  { value: 'never', text: 'Never' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
  { value: 'at', text: 'At a specific time' },
];

/** `at` is the value of the time field. Undefined: never. */
export function expiresAt(chosen: string, at: string, nowMs: number): string | undefined {
  if (chosen === 'never') return undefined;
  if (chosen === 'at') return fromField(at);
  return new Date(nowMs + Number(chosen) * dayMs).toISOString();
}
