// Summarizes the event patterns of a subscription. Pure.
import type { Callback } from '../../../src/client/contract/subscription.ts';

export function eventSummary(
  callbacks: readonly Pick<Callback, 'events'>[],
  every = 'Every event',
): string {
  const names = [...new Set(callbacks.flatMap(({ events }) => events))];
  // `*` does not match Ringback's own events, so they are listed next to it.
  if (!names.includes('*')) return names.join(', ');
  return [every, ...names.filter(isOwn)].join(', ');
}

function isOwn(name: string): boolean {
  return name.startsWith('ringback.');
}
