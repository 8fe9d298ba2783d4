// What a subscription hears, in words. Pure.
import type { Callback } from '../shapes.ts';

export function eventWords(callbacks: readonly Pick<Callback, 'events'>[]): string {
  const names = [...new Set(callbacks.flatMap(({ events }) => events))];
  return names.includes('*') ? 'Every event' : names.join(', ');
}
