// What a subscription hears, in words. Pure.
import type { Callback } from '../shapes.ts';

export function eventWords(callbacks: readonly Pick<Callback, 'event'>[]): string {
  const names = [...new Set(callbacks.map(({ event }) => event))];
  return names.includes('*') ? 'Every event' : names.join(', ');
}
