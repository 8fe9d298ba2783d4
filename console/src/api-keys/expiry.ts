// When a new key expires, as it is chosen. Pure.
import { fromField } from '../deliveries/local-time.ts';

const dayMs = 86_400_000;

export const expiries = [
  { value: 'never', text: 'Never' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
  { value: 'at', text: 'At a time of your choice' },
];

/** `at`: what the field of the time says. Undefined: never. */
export function expiresAt(chosen: string, at: string, nowMs: number): string | undefined {
  if (chosen === 'never') return undefined;
  if (chosen === 'at') return fromField(at);
  return new Date(nowMs + Number(chosen) * dayMs).toISOString();
}
