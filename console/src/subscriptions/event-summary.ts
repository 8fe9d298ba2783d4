// What a subscription hears, in words. Pure.
import type { Callback } from '../../../src/client/contract/subscription.ts';

export function eventSummary(
  callbacks: readonly Pick<Callback, 'events'>[],
  every = 'Every event',
): string {
  const names = [...new Set(callbacks.flatMap(({ events }) => events))];
  // Ringback's own events are no part of "every", so they are named beside it.
  if (!names.includes('*')) return names.join(', ');
  return [every, ...names.filter(isOwn)].join(', ');
}

function isOwn(name: string): boolean {
  return name.startsWith('ringback.');
}
